#include "facebench/io/hdf5.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/registry.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");
static_assert(std::is_same_v<hid_t, std::int64_t>);

// Held around every call into the library, which is not safe to call from two threads. Silences the
// library's own error output meanwhile.
class Session {
 public:
  Session() : lock_(mutex()) {
    // The first call of all: without it a file that could not be closed (disk full) makes the
    // library crash at exit.
    static const herr_t once = H5dont_atexit();
    static_cast<void>(once);
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Session() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }

  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// What the library says about its last failure: the innermost message, which is the cause.
std::string library_message() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        auto& message = *static_cast<std::string*>(out);
        if (message.empty() && error->desc) message = error->desc;
        return 0;
      },
      &text);
  return text.empty() ? "no reason given" : text;
}

// An identifier of the library that closes itself.
class Id {
 public:
  Id() = default;
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Id() { reset(); }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  Id(Id&& other) noexcept : id_(other.release()), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    reset();
    close_ = other.close_;
    id_ = other.release();
    return *this;
  }

  explicit operator bool() const { return id_ >= 0; }
  operator hid_t() const { return id_; }
  hid_t release() { return std::exchange(id_, -1); }

 private:
  void reset() {
    if (id_ >= 0) close_(release());
  }

  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

hid_t native_type(H5Type type) {
  switch (type) {
    case H5Type::uint8:
      return H5T_NATIVE_UINT8;
    case H5Type::int32:
      return H5T_NATIVE_INT32;
    case H5Type::int64:
      return H5T_NATIVE_INT64;
    case H5Type::uint64:
      return H5T_NATIVE_UINT64;
    case H5Type::float32:
      return H5T_NATIVE_FLOAT;
    case H5Type::float64:
      return H5T_NATIVE_DOUBLE;
    default:
      throw std::invalid_argument("HDF5: not a type of numbers");
  }
}

H5Type type_of(hid_t type) {
  if (H5Tget_class(type) == H5T_STRING) return H5Type::text;
  for (int i = 0; i < static_cast<int>(H5Type::text); ++i)
    if (H5Tequal(type, native_type(static_cast<H5Type>(i))) > 0) return static_cast<H5Type>(i);
  return H5Type::other;
}

// false where the product does not fit.
bool multiply(std::uint64_t& a, std::uint64_t b) { return !__builtin_mul_overflow(a, b, &a); }

// "/a/b" as {"/a", "/a/b"}. Empty and relative names are mistakes of the caller.
std::vector<std::string> prefixes(std::string_view name) {
  if (name.size() < 2 || name.front() != '/' || name.back() == '/' ||
      name.find("//") != std::string_view::npos)
    throw std::invalid_argument(fmt::format("'{}' is not a dataset's name like '/images'", name));
  std::vector<std::string> result;
  for (std::size_t slash = name.find('/', 1); slash != std::string_view::npos;
       slash = name.find('/', slash + 1))
    result.emplace_back(name.substr(0, slash));
  result.emplace_back(name);
  return result;
}

Id access_properties() {
  Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
  // Our files are replaced, never changed, so locks protect nothing; and they fail on file systems
  // that are read-only or have none.
  H5Pset_file_locking(access, false, true);
#endif
  return access;
}

// A dataset that passed every check that can be made without touching its data.
struct Opened {
  Id dataset, type;
  H5Type kind = H5Type::other;
  std::size_t element_bytes = 0;
  std::vector<std::int64_t> shape;
  std::uint64_t elements = 1;
  std::optional<std::uint64_t> offset;
};

bool link_exists(hid_t file, const std::string& name, const std::string& where) {
  const htri_t exists = H5Lexists(file, name.c_str(), H5P_DEFAULT);
  if (exists < 0) fail(where, fmt::format("damaged: {}", library_message()));
  if (exists == 0) return false;
  H5L_info_t info;
  if (H5Lget_info(file, name.c_str(), &info, H5P_DEFAULT) < 0)
    fail(where, fmt::format("damaged: {}", library_message()));
  if (info.type != H5L_TYPE_HARD) fail(where, "is a link to elsewhere, which is not followed");
  return true;
}

bool path_exists(hid_t file, std::string_view name, const std::string& where) {
  for (const std::string& prefix : prefixes(name)) {
    if (!link_exists(file, prefix, where)) return false;
    const Id object(H5Oopen(file, prefix.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object) fail(where, fmt::format("damaged: {}", library_message()));
    if (prefix.size() < name.size() && H5Iget_type(object) != H5I_GROUP) return false;
  }
  return true;
}

// Deflate cannot expand by more than 1032, so a dataset that claims more is lying.
constexpr std::uint64_t kLargestExpansion = 1100;

void check_layout(const Opened& opened, std::uint64_t bytes, std::uint64_t file_size,
                  const std::string& where) {
  const Id properties(H5Dget_create_plist(opened.dataset), H5Pclose);
  if (!properties) fail(where, fmt::format("damaged: {}", library_message()));
  if (H5Pget_external_count(properties) != 0)
    fail(where, "keeps its data in another file, which is not followed");
  const H5D_layout_t layout = H5Pget_layout(properties);
  if (layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED && layout != H5D_COMPACT)
    fail(where, "has a storage layout that is not supported (virtual)");
  if (layout == H5D_CHUNKED) {
    hsize_t chunk[H5S_MAX_RANK];
    const int rank = H5Pget_chunk(properties, H5S_MAX_RANK, chunk);
    std::uint64_t chunk_bytes = opened.element_bytes;
    bool fits = rank >= 0;
    for (int i = 0; i < rank; ++i) fits = fits && multiply(chunk_bytes, chunk[i]);
    if (!fits || std::max(bytes, chunk_bytes) / kLargestExpansion > file_size)
      fail(where,
           fmt::format("claims {} bytes, more than a file of {} can hold", bytes, file_size));
    for (int i = 0; i < H5Pget_nfilters(properties); ++i) {
      unsigned flags = 0;
      std::size_t values = 0;
      const H5Z_filter_t filter = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags,
                                                 &values, nullptr, 0, nullptr, nullptr);
      if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
          filter != H5Z_FILTER_FLETCHER32)
        fail(where, "is compressed with a filter that is not supported",
             "Write it uncompressed or with gzip");
    }
  } else if (bytes > file_size) {
    fail(where, fmt::format("claims {} bytes, but the file has {}", bytes, file_size));
  }
}

Opened open_dataset(hid_t file, std::string_view name, std::uint64_t file_size,
                    const std::string& where) {
  if (!path_exists(file, name, where)) fail(where, "there is no such dataset");
  Opened d;
  d.dataset = Id(H5Dopen2(file, std::string(name).c_str(), H5P_DEFAULT), H5Dclose);
  if (!d.dataset) fail(where, fmt::format("cannot open this dataset: {}", library_message()));
  d.type = Id(H5Dget_type(d.dataset), H5Tclose);
  const Id space(H5Dget_space(d.dataset), H5Sclose);
  if (!d.type || !space) fail(where, fmt::format("damaged: {}", library_message()));
  d.kind = type_of(d.type);
  d.element_bytes = H5Tget_size(d.type);
  if (d.element_bytes == 0) fail(where, "damaged: elements of no size");
  if (H5Sget_simple_extent_type(space) == H5S_NULL) fail(where, "has no data space");
  hsize_t extent[H5S_MAX_RANK];
  const int rank = H5Sget_simple_extent_dims(space, extent, nullptr);
  if (rank < 0) fail(where, fmt::format("damaged: {}", library_message()));
  std::uint64_t bytes = d.element_bytes;
  for (int i = 0; i < rank; ++i) {
    // An extent of zero would hide an absurd one beside it.
    if (!multiply(d.elements, extent[i]) || extent[i] > std::uint64_t{1} << 62)
      fail(where, "claims more elements than can exist");
    d.shape.push_back(static_cast<std::int64_t>(extent[i]));
  }
  if (!multiply(bytes, d.elements)) fail(where, "claims more bytes than can exist");
  check_layout(d, bytes, file_size, where);
  const Id properties(H5Dget_create_plist(d.dataset), H5Pclose);
  if (bytes > 0 && H5Pget_layout(properties) == H5D_CONTIGUOUS) {
    const haddr_t offset = H5Dget_offset(d.dataset);
    if (offset == HADDR_UNDEF) fail(where, "was declared, but its data was never written");
    if (offset > file_size || bytes > file_size - offset)
      fail(where,
           fmt::format("its {} bytes from byte {} on reach beyond the file's end at {}", bytes,
                       offset, file_size),
           "The file is cut short; make it again");
    d.offset = offset;
  }
  return d;
}

void expect_type(const Opened& d, H5Type type, const std::string& where) {
  if (d.kind == type) return;
  fail(where, fmt::format("is of type {}, expected {}", h5_type_name(d.kind), h5_type_name(type)));
}

std::string text_of(std::string bytes, std::size_t row, const std::string& where) {
  if (bytes.find('\0') != std::string::npos)
    fail(where, fmt::format("row {} has a NUL inside its text", row));
  if (!is_utf8(bytes)) fail(where, fmt::format("row {} is not UTF-8", row));
  return bytes;
}

std::vector<std::string> read_fixed_texts(const Opened& d, const std::string& where) {
  const std::size_t width = d.element_bytes;
  std::vector<char> bytes(d.elements * width);
  if (H5Dread(d.dataset, d.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0)
    fail(where, fmt::format("cannot be read: {}", library_message()));
  const char padding = H5Tget_strpad(d.type) == H5T_STR_SPACEPAD ? ' ' : '\0';
  const bool terminated = H5Tget_strpad(d.type) == H5T_STR_NULLTERM;
  std::vector<std::string> texts;
  texts.reserve(d.elements);
  for (std::size_t row = 0; row < d.elements; ++row) {
    std::string_view text(bytes.data() + row * width, width);
    if (terminated) text = text.substr(0, text.find('\0'));
    while (text.ends_with(padding)) text.remove_suffix(1);
    texts.push_back(text_of(std::string(text), row, where));
  }
  return texts;
}

std::vector<std::string> read_variable_texts(const Opened& d, const std::string& where) {
  const Id space(H5Dget_space(d.dataset), H5Sclose);
  const Id type(H5Tcopy(d.type), H5Tclose);
  std::vector<char*> pointers(d.elements, nullptr);
  if (H5Dread(d.dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) < 0)
    fail(where, fmt::format("cannot be read: {}", library_message()));
  std::vector<std::string> texts;
  texts.reserve(d.elements);
  for (const char* p : pointers) texts.emplace_back(p ? p : "");
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
  for (std::size_t row = 0; row < texts.size(); ++row)
    texts[row] = text_of(std::move(texts[row]), row, where);
  return texts;
}

// The selection of rows first..first+count in `space`.
void select_rows(hid_t space, const std::vector<std::int64_t>& shape, std::int64_t first,
                 std::int64_t count, const std::string& where) {
  std::vector<hsize_t> start(shape.size(), 0), size(shape.begin(), shape.end());
  start[0] = static_cast<hsize_t>(first);
  size[0] = static_cast<hsize_t>(count);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0)
    fail(where, fmt::format("cannot select rows: {}", library_message()));
}

}  // namespace

std::string_view h5_type_name(H5Type type) {
  static constexpr std::string_view names[] = {"uint8",   "int32",   "int64", "uint64",
                                               "float32", "float64", "text",  "other"};
  return names[static_cast<int>(type)];
}

std::size_t h5_type_size(H5Type type) {
  static constexpr std::size_t sizes[] = {1, 4, 8, 8, 4, 8, 0, 0};
  return sizes[static_cast<int>(type)];
}

H5Reader::H5Reader(const std::filesystem::path& path) : path_(path) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  {
    const MappedFile file(path);
    file_size_ = file.bytes().size();
    if (file_size_ < kSignature.size() ||
        std::memcmp(file.bytes().data(), kSignature.data(), kSignature.size()) != 0)
      fail(path.string(), "is not an HDF5 file");
  }
  const Session session;
  const Id access = access_properties();
  file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  if (file_ < 0)
    fail(path.string(), fmt::format("cannot be opened as HDF5: {}", library_message()),
         "The file may be cut short or damaged; make it again");
}

H5Reader::~H5Reader() {
  const Session session;
  H5Fclose(file_);
}

std::string H5Reader::where(std::string_view name) const {
  return fmt::format("{}: {}", path_.string(), name);
}

bool H5Reader::has(std::string_view name) const {
  const Session session;
  return path_exists(file_, name, where(name));
}

std::vector<std::string> H5Reader::names(std::string_view group) const {
  const Session session;
  if (group != "/" && !path_exists(file_, group, where(group)))
    fail(where(group), "there is no such group");
  const Id opened(H5Gopen2(file_, std::string(group).c_str(), H5P_DEFAULT), H5Gclose);
  if (!opened) fail(where(group), "is not a group");
  std::vector<std::string> names;
  const herr_t result = H5Literate(
      opened, H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
        static_cast<std::vector<std::string>*>(out)->emplace_back(name);
        return 0;
      },
      &names);
  if (result < 0) fail(where(group), fmt::format("damaged: {}", library_message()));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::int64_t> H5Reader::shape(std::string_view name) const {
  const Session session;
  return open_dataset(file_, name, file_size_, where(name)).shape;
}

H5Type H5Reader::type(std::string_view name) const {
  const Session session;
  return open_dataset(file_, name, file_size_, where(name)).kind;
}

std::optional<std::uint64_t> H5Reader::dataset_offset(std::string_view name) const {
  const Session session;
  return open_dataset(file_, name, file_size_, where(name)).offset;
}

std::size_t H5Reader::require(std::string_view name, H5Type type, int rank) const {
  const Session session;
  const Opened d = open_dataset(file_, name, file_size_, where(name));
  expect_type(d, type, where(name));
  if (rank >= 0 && d.shape.size() != static_cast<std::size_t>(rank))
    fail(where(name), fmt::format("has {} dimensions ({}), expected {}", d.shape.size(),
                                  fmt::join(d.shape, " x "), rank));
  return d.elements;
}

void H5Reader::read_all(std::string_view name, H5Type type, void* out, std::size_t elements) const {
  const Session session;
  const Opened d = open_dataset(file_, name, file_size_, where(name));
  if (d.elements != elements || d.kind != type) fail(where(name), "changed while it was read");
  if (elements == 0) return;
  if (H5Dread(d.dataset, native_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
    fail(where(name), fmt::format("cannot be read: {}", library_message()));
}

void H5Reader::read_slice(std::string_view name, H5Type type, std::int64_t first,
                          std::int64_t count, void* out, std::size_t elements) const {
  const Session session;
  const Opened d = open_dataset(file_, name, file_size_, where(name));
  expect_type(d, type, where(name));
  if (d.shape.empty()) fail(where(name), "is a single value, expected rows");
  if (first < 0 || count < 0 || first > d.shape[0] || count > d.shape[0] - first)
    throw std::out_of_range(fmt::format("{}: no rows {} to {} among {}", where(name), first,
                                        first + count, d.shape[0]));
  const std::uint64_t row = d.shape[0] > 0 ? d.elements / d.shape[0] : 0;
  if (elements != row * static_cast<std::uint64_t>(count))
    throw std::invalid_argument(fmt::format("{}: room for {} values, but {} rows have {}",
                                            where(name), elements, count, row * count));
  if (elements == 0) return;
  const Id space(H5Dget_space(d.dataset), H5Sclose);
  select_rows(space, d.shape, first, count, where(name));
  const hsize_t flat = elements;
  const Id memory(H5Screate_simple(1, &flat, nullptr), H5Sclose);
  if (H5Dread(d.dataset, native_type(type), memory, space, H5P_DEFAULT, out) < 0)
    fail(where(name), fmt::format("cannot be read: {}", library_message()));
}

std::vector<std::string> H5Reader::read_texts(std::string_view name) const {
  const Session session;
  const Opened d = open_dataset(file_, name, file_size_, where(name));
  expect_type(d, H5Type::text, where(name));
  if (d.shape.size() != 1)
    fail(where(name), fmt::format("has {} dimensions, expected 1", d.shape.size()));
  if (d.elements == 0) return {};
  return H5Tis_variable_str(d.type) > 0 ? read_variable_texts(d, where(name))
                                        : read_fixed_texts(d, where(name));
}

Json H5Reader::read_json(std::string_view name) const {
  const std::vector<std::uint8_t> bytes = read<std::uint8_t>(name, 1);
  return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, where(name));
}

H5Writer::H5Writer(const std::filesystem::path& target) : atomic_(target) {
  const Session session;
  const Id access = access_properties();
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  constexpr hsize_t kAlignment = 4096;  // so that a mapped dataset's numbers are aligned
  H5Pset_alignment(access, kAlignment, kAlignment);
  const Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  file_ = H5Fcreate(atomic_.temporary().c_str(), H5F_ACC_EXCL, creation, access);
  if (file_ < 0)
    fail(atomic_.target().string(), fmt::format("cannot be written: {}", library_message()));
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
    if (!group) fail(where(parts[i]), fmt::format("cannot be made: {}", library_message()));
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
  if (!dataset) fail(where(name), fmt::format("cannot be made: {}", library_message()));
  if (bytes > 0) {
    // Take the room now: a full disk found out by the library itself leaves it unable to close.
    const haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF) fail(where(name), "no room was allocated");
    const int fd = ::open(atomic_.temporary().c_str(), O_WRONLY | O_CLOEXEC);
    const int error =
        fd < 0 ? errno
               : ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    if (fd >= 0) ::close(fd);
    if (error != 0)
      fail(where(name), fmt::format("no room for {} bytes: {}", bytes, std::strerror(error)),
           "Free some space and try again");
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
    throw std::invalid_argument(fmt::format("{}: {} values are no whole number of rows of {}",
                                            where(name), elements, dataset.row_elements));
  const auto count = static_cast<std::int64_t>(elements / dataset.row_elements);
  if (first < 0 || first > dataset.shape[0] || count > dataset.shape[0] - first)
    throw std::out_of_range(fmt::format("{}: no rows {} to {} among {}", where(name), first,
                                        first + count, dataset.shape[0]));
  const Session session;
  const Id opened(H5Dopen2(file_, std::string(name).c_str(), H5P_DEFAULT), H5Dclose);
  const Id space(H5Dget_space(opened), H5Sclose);
  select_rows(space, dataset.shape, first, count, where(name));
  const hsize_t flat = elements;
  const Id memory(H5Screate_simple(1, &flat, nullptr), H5Sclose);
  if (H5Dwrite(opened, native_type(type), memory, space, H5P_DEFAULT, values) < 0)
    fail(where(name), fmt::format("cannot be written: {}", library_message()));
  std::fill_n(dataset.written.begin() + first, count, true);
}

void H5Writer::write_texts(std::string_view name, std::span<const std::string> values) {
  std::size_t width = 1;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (values[row].find('\0') != std::string::npos || !is_utf8(values[row]))
      throw std::invalid_argument(
          fmt::format("{}: text {} has a NUL or is not UTF-8", where(name), row));
    width = std::max(width, values[row].size());
  }
  std::vector<char> bytes(values.size() * width, '\0');
  for (std::size_t row = 0; row < values.size(); ++row)
    std::copy(values[row].begin(), values[row].end(), bytes.begin() + row * width);
  const Session session;
  const Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, width);
  H5Tset_cset(type, H5T_CSET_UTF8);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  const Id dataset(create(name, type, width, {static_cast<std::int64_t>(values.size())}), H5Dclose);
  if (values.empty()) return;
  if (H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0)
    fail(where(name), fmt::format("cannot be written: {}", library_message()));
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
    if (H5Fclose(std::exchange(file_, -1)) < 0)
      fail(atomic_.target().string(), fmt::format("cannot be written: {}", library_message()),
           "The disk may be full");
  }
  atomic_.commit();
}

}  // namespace facebench
