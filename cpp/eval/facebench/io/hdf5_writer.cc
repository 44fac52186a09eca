#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/io/internal/hdf5_library.h"
#include "facebench/io/machine_error.h"
#include "facebench/io/text.h"

namespace facebench {

using namespace hdf5;

namespace {

// The selection of rows first..first+count in `space`.
void select_rows(hid_t space, const std::vector<std::int64_t>& shape, std::int64_t first,
                 std::int64_t count, const std::string& where) {
  std::vector<hsize_t> start(shape.size(), 0), size(shape.begin(), shape.end());
  start[0] = static_cast<hsize_t>(first);
  size[0] = static_cast<hsize_t>(count);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0)
    fail(where, fmt::format("cannot select rows: {}", library_message()));
}

Id text_type(std::size_t width) {
  Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, width);
  H5Tset_cset(type, H5T_CSET_UTF8);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  return type;
}

// What HDF5 says of a write that failed: the system's error, which its message holds, or else that.
[[noreturn]] void fail_write(const std::string& where) {
  const std::string message = library_message();
  constexpr std::string_view mark = "errno = ";  // behind the file's name
  int error = 0;
  if (const std::size_t at = message.rfind(mark); at != std::string::npos)
    std::from_chars(message.data() + at + mark.size(), message.data() + message.size(), error);
  if (error > 0) fail_errno(where, "write", error);
  fail(where, fmt::format("cannot be written: {}", message));
}

}  // namespace

H5Writer::H5Writer(const std::filesystem::path& target) : atomic_(target) {
  const Session session;
  const Id access = access_properties();
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  constexpr hsize_t kAlignment = 4096;  // so that a mapped dataset's numbers are aligned
  H5Pset_alignment(access, kAlignment, kAlignment);
  // Without it, numbers wait in a buffer until their dataset is closed, where a failing disk is not
  // noticed.
  H5Pset_sieve_buf_size(access, 0);
  const Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  file_ = H5Fcreate(atomic_.temporary().c_str(), H5F_ACC_TRUNC, creation, access);
  if (file_ < 0) fail_write(atomic_.target().string());
}

H5Writer::~H5Writer() {
  const Session session;
  if (file_ >= 0) H5Fclose(file_);
}

std::string H5Writer::where(std::string_view name) const {
  return fmt::format("{}: {}", atomic_.target().string(), name);
}

std::int64_t H5Writer::create(std::string_view name, std::int64_t type, std::size_t element_bytes,
                              const std::vector<std::int64_t>& shape) {
  if (file_ < 0) throw std::logic_error("H5Writer: used after commit()");
  if (shape.empty() || shape.size() > H5S_MAX_RANK)
    throw std::invalid_argument(fmt::format("{}: {} dimensions, expected 1 to {}", where(name),
                                            shape.size(), H5S_MAX_RANK));
  std::uint64_t bytes = element_bytes;
  for (std::int64_t extent : shape)
    if (extent < 0 || !multiply(bytes, static_cast<std::uint64_t>(extent)))
      throw std::invalid_argument(
          fmt::format("{}: no such shape: {}", where(name), fmt::join(shape, " x ")));
  const std::vector<std::string> parts = prefixes(name);
  const Id group_properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(group_properties, false);
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (H5Lexists(file_, parts[i].c_str(), H5P_DEFAULT) > 0) continue;
    const Id group(H5Gcreate2(file_, parts[i].c_str(), H5P_DEFAULT, group_properties, H5P_DEFAULT),
                   H5Gclose);
    if (!group) fail_write(where(parts[i]));
  }
  const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  H5Pset_layout(properties, H5D_CONTIGUOUS);
  H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  const std::vector<hsize_t> extent(shape.begin(), shape.end());
  const Id space(H5Screate_simple(static_cast<int>(shape.size()), extent.data(), nullptr),
                 H5Sclose);
  Id dataset(H5Dcreate2(file_, std::string(name).c_str(), type, space, H5P_DEFAULT, properties,
                        H5P_DEFAULT),
             H5Dclose);
  if (!dataset) fail_write(where(name));
  if (bytes > 0) {
    // Allocate the space now: if the library itself meets a full disk, it cannot close the file.
    const haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF) fail(where(name), "no room was allocated");
    const int fd = ::open(atomic_.temporary().c_str(), O_WRONLY | O_CLOEXEC);
    const int error =
        fd < 0 ? errno
               : ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    if (fd >= 0) ::close(fd);
    if (error != 0) fail_errno(where(name), fmt::format("reserve {} bytes", bytes), error);
  }
  return dataset.release();
}

void H5Writer::create_dataset(std::string_view name, H5Type type,
                              const std::vector<std::int64_t>& shape) {
  const Session session;
  H5Dclose(create(name, native_type(type), h5_type_size(type), shape));
  Dataset& dataset = datasets_[std::string(name)];
  dataset.type = type;
  dataset.shape = shape;
  for (std::size_t i = 1; i < shape.size(); ++i) dataset.row_elements *= shape[i];
  dataset.written.resize(dataset.row_elements > 0 ? static_cast<std::size_t>(shape[0]) : 0);
}

H5Writer::Dataset& H5Writer::require(std::string_view name, H5Type type) {
  if (file_ < 0) throw std::logic_error("H5Writer: used after commit()");
  const auto found = datasets_.find(name);
  if (found == datasets_.end())
    throw std::invalid_argument(fmt::format("{}: create_dataset comes first", where(name)));
  if (found->second.type != type)
    throw std::invalid_argument(fmt::format("{}: is of type {}, not {}", where(name),
                                            h5_type_name(found->second.type), h5_type_name(type)));
  return found->second;
}

void H5Writer::write_all(std::string_view name, H5Type type, const void* values,
                         std::size_t elements) {
  const Dataset& dataset = require(name, type);
  if (elements != dataset.row_elements * static_cast<std::uint64_t>(dataset.shape[0]))
    throw std::invalid_argument(fmt::format("{}: {} values do not make {}", where(name), elements,
                                            fmt::join(dataset.shape, " x ")));
  write_slice(name, type, 0, values, elements);
}

void H5Writer::write_slice(std::string_view name, H5Type type, std::int64_t first,
                           const void* values, std::size_t elements) {
  Dataset& dataset = require(name, type);
  if (elements == 0) return;
  if (dataset.row_elements == 0 || elements % dataset.row_elements != 0)
    throw std::invalid_argument(fmt::format("{}: {} values are not a whole number of rows of {}",
                                            where(name), elements, dataset.row_elements));
  const auto count = static_cast<std::int64_t>(elements / dataset.row_elements);
  require_rows(name, dataset, first, count);
  const Session session;
  write_selected(name, native_type(type), dataset, first, count, elements, values);
}

void H5Writer::require_rows(std::string_view name, const Dataset& dataset, std::int64_t first,
                            std::int64_t count) const {
  if (first < 0 || first > dataset.shape[0] || count > dataset.shape[0] - first)
    throw std::out_of_range(fmt::format("{}: no rows {} to {} among {}", where(name), first,
                                        first + count, dataset.shape[0]));
}

void H5Writer::write_selected(std::string_view name, std::int64_t type, Dataset& dataset,
                              std::int64_t first, std::int64_t count, std::uint64_t elements,
                              const void* values) {
  const Id opened(H5Dopen2(file_, std::string(name).c_str(), H5P_DEFAULT), H5Dclose);
  const Id space(H5Dget_space(opened), H5Sclose);
  select_rows(space, dataset.shape, first, count, where(name));
  const hsize_t flat = elements;
  const Id memory(H5Screate_simple(1, &flat, nullptr), H5Sclose);
  if (H5Dwrite(opened, type, memory, space, H5P_DEFAULT, values) < 0) fail_write(where(name));
  std::fill_n(dataset.written.begin() + first, count, true);
}

void H5Writer::write_texts(std::string_view name, std::span<const std::string> values) {
  std::size_t width = 1;
  for (const std::string& value : values) width = std::max(width, value.size());
  create_texts(name, static_cast<std::int64_t>(values.size()), width);
  write_text_rows(name, 0, values);
}

void H5Writer::create_texts(std::string_view name, std::int64_t rows, std::size_t width) {
  const Session session;
  H5Dclose(create(name, text_type(width), width, {rows}));
  Dataset& dataset = datasets_[std::string(name)];
  dataset.type = H5Type::text;
  dataset.shape = {rows};
  dataset.width = width;
  dataset.written.resize(static_cast<std::size_t>(rows));
}

void H5Writer::write_text_rows(std::string_view name, std::int64_t first,
                               std::span<const std::string> values) {
  Dataset& dataset = require(name, H5Type::text);
  const auto count = static_cast<std::int64_t>(values.size());
  require_rows(name, dataset, first, count);
  std::vector<char> bytes(values.size() * dataset.width, '\0');
  for (std::size_t row = 0; row < values.size(); ++row) {
    const std::string& text = values[row];
    if (text.find('\0') != std::string::npos || !is_utf8(text))
      throw std::invalid_argument(fmt::format("{}: text {} has a NUL or is not UTF-8", where(name),
                                              first + static_cast<std::int64_t>(row)));
    if (text.size() > dataset.width)
      throw std::invalid_argument(fmt::format("{}: text {} has {} bytes, there is room for {}",
                                              where(name), first + static_cast<std::int64_t>(row),
                                              text.size(), dataset.width));
    std::copy(text.begin(), text.end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(row * dataset.width));
  }
  if (values.empty()) return;
  const Session session;
  write_selected(name, text_type(dataset.width), dataset, first, count, values.size(),
                 bytes.data());
}

void H5Writer::write_json(std::string_view name, const Json& value) {
  const std::string text = canonical_json(value);
  write<std::uint8_t>(name, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                      {static_cast<std::int64_t>(text.size())});
}

void H5Writer::commit() {
  if (file_ < 0) throw std::logic_error("H5Writer::commit: called a second time");
  for (const auto& [name, dataset] : datasets_) {
    const auto hole = std::find(dataset.written.begin(), dataset.written.end(), false);
    if (hole != dataset.written.end())
      throw std::logic_error(
          fmt::format("{}: row {} was never written", where(name), hole - dataset.written.begin()));
  }
  {
    const Session session;
    if (H5Fclose(std::exchange(file_, -1)) < 0) fail_write(atomic_.target().string());
  }
  atomic_.commit();
}

}  // namespace facebench
