#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "facebench/core/error.h"
#include "facebench/io/confine.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/internal/confined_child.h"
#include "facebench/io/internal/hdf5_source.h"
#include "facebench/io/internal/memory_number.h"
#include "facebench/io/text.h"

namespace facebench {

std::string hdf5::where(const std::filesystem::path& path, std::string_view name) {
  return fmt::format("{}: {}", path.string(), name);
}

H5Reader::H5Reader(const std::filesystem::path& path) : path_(path) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  const MappedFile file(path);
  const auto bytes = file.bytes();
  if (bytes.size() < kSignature.size() ||
      std::memcmp(bytes.data(), kSignature.data(), kSignature.size()) != 0)
    fail(path.string(), "is not an HDF5 file");
  // How many bytes addresses and lengths have: behind the version of what the file begins with.
  const std::size_t at = bytes.size() > 8 && bytes[8] < std::byte{2} ? 13 : 9;
  if (bytes.size() > at + 1 && (bytes[at] != std::byte{8} || bytes[at + 1] != std::byte{8}))
    fail(path.string(),
         fmt::format("has addresses of {} bytes and lengths of {}, which is not supported",
                     std::to_integer<int>(bytes[at]), std::to_integer<int>(bytes[at + 1])),
         "Write it with 8 bytes for each, as is usual");
  // What a file in several parts says of its driver is asked for as it says (H5F__super_read).
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const std::size_t driver = bytes.size() > 8 && bytes[8] == std::byte{1} ? 52 : 48;
  if (bytes.size() > driver + 8 && bytes[8] < std::byte{2} &&
      number_at<std::uint64_t>(bytes.data() + driver) != kNone)
    fail(path.string(), "is one of several files that make up one, which is not supported",
         "Write it as one file");
  source_ = readers_are_confined() ? hdf5::open_confined_source(path, bytes)
                                   : hdf5::open_library_source(path, bytes.size());
}

H5Reader::~H5Reader() = default;

bool H5Reader::has(std::string_view name) const { return source_->has(name); }

std::vector<std::string> H5Reader::names(std::string_view group) const {
  return source_->names(group);
}

std::vector<std::int64_t> H5Reader::shape(std::string_view name) const {
  return source_->facts(name).shape;
}

H5Type H5Reader::type(std::string_view name) const { return source_->facts(name).type; }

std::optional<std::uint64_t> H5Reader::dataset_offset(std::string_view name) const {
  return source_->facts(name).offset;
}

std::size_t H5Reader::require(std::string_view name, H5Type type, int rank) const {
  const hdf5::DatasetFacts d = source_->facts(name);
  {
    const std::lock_guard lock(asking_);
    asked_.emplace(name);
  }
  const std::string where = hdf5::where(path_, name);
  if (d.type != type)
    fail(where, fmt::format("is of type {}, expected {}", h5_type_name(d.type), h5_type_name(type)),
         fmt::format("Write it as {}, little-endian.", h5_type_name(type)));
  if (rank >= 0 && d.shape.size() != static_cast<std::size_t>(rank))
    fail(where, fmt::format("has {} dimensions ({}), expected {}", d.shape.size(),
                            fmt::join(d.shape, " x "), rank));
  return d.elements;
}

void H5Reader::read_all(std::string_view name, H5Type type, void* out, std::size_t elements) const {
  source_->read(name, type, out, elements);
}

std::vector<std::string> H5Reader::read_texts(std::string_view name) const {
  require(name, H5Type::text, 1);
  std::vector<std::string> texts = source_->read_texts(name);
  const std::string where = hdf5::where(path_, name);
  for (std::size_t row = 0; row < texts.size(); ++row) {
    if (texts[row].find('\0') != std::string::npos)
      fail(where, fmt::format("row {} has a NUL inside its text", row));
    if (!is_utf8(texts[row])) fail(where, fmt::format("row {} is not UTF-8", row));
  }
  return texts;
}

Json H5Reader::read_json(std::string_view name) const {
  const std::vector<std::uint8_t> bytes = read<std::uint8_t>(name, 1);
  return parse_file_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                         hdf5::where(path_, name));
}

void H5Reader::add_unread(const std::string& group, std::vector<std::string>& found) const {
  for (const std::string& member : source_->names(group.empty() ? "/" : group)) {
    const std::string name = group + "/" + member;
    if (asked_.contains(name)) continue;
    const auto below = asked_.lower_bound(name + "/");
    if (below != asked_.end() && below->starts_with(name + "/"))
      add_unread(name, found);
    else
      found.push_back(name);
  }
}

std::vector<std::string> H5Reader::unread() const {
  const std::lock_guard lock(asking_);
  std::vector<std::string> found;
  add_unread("", found);
  return found;
}

}  // namespace facebench
