#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/error.h"
#include "facebench/io/internal/hdf5_library.h"
#include "facebench/io/internal/hdf5_source.h"

namespace facebench::hdf5 {
namespace {

H5Type type_of(hid_t type) {
  if (H5Tget_class(type) == H5T_STRING) return H5Type::text;
  for (int i = 0; i < static_cast<int>(H5Type::text); ++i)
    if (H5Tequal(type, native_type(static_cast<H5Type>(i))) > 0) return static_cast<H5Type>(i);
  return H5Type::other;
}

// A dataset that passed every check that can be made without touching its data.
struct Opened {
  Id dataset, type;
  std::size_t element_bytes = 0;
  DatasetFacts facts;
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
  if (layout == H5D_COMPACT && H5Dget_storage_size(opened.dataset) < bytes)
    fail(where, fmt::format("claims {} bytes, more than its header holds", bytes));
  if (layout == H5D_CHUNKED) {
    hsize_t chunk[H5S_MAX_RANK];
    const int rank = H5Pget_chunk(properties, H5S_MAX_RANK, chunk);
    std::uint64_t chunk_bytes = opened.element_bytes;
    bool fits = rank >= 0;
    for (int i = 0; i < rank; ++i) fits = fits && multiply(chunk_bytes, chunk[i]);
    const std::uint64_t claimed = std::max(bytes, chunk_bytes);
    if (!fits || claimed / kLargestExpansion > file_size)
      fail(where, fmt::format("claims {} bytes{}, more than a file of {} can hold",
                              fits ? std::to_string(claimed) : "2^64 or more",
                              chunk_bytes > bytes ? " a chunk" : "", file_size));
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
  d.facts.type = type_of(d.type);
  d.element_bytes = H5Tget_size(d.type);
  if (d.element_bytes == 0) fail(where, "damaged: elements of no size");
  if (H5Sget_simple_extent_type(space) == H5S_NULL) fail(where, "has no data space");
  hsize_t extent[H5S_MAX_RANK];
  const int rank = H5Sget_simple_extent_dims(space, extent, nullptr);
  if (rank < 0) fail(where, fmt::format("damaged: {}", library_message()));
  std::uint64_t bytes = d.element_bytes;
  for (int i = 0; i < rank; ++i) {
    // With an extent of zero the product would be 0, however large the others are.
    if (!multiply(d.facts.elements, extent[i]) || extent[i] > std::uint64_t{1} << 62)
      fail(where, "claims more elements than can exist");
    d.facts.shape.push_back(static_cast<std::int64_t>(extent[i]));
  }
  if (!multiply(bytes, d.facts.elements)) fail(where, "claims more bytes than can exist");
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
    d.facts.offset = offset;
  }
  return d;
}

std::vector<std::string> read_fixed_texts(hid_t file, const Opened& d, std::uint64_t file_size,
                                          const std::string& where) {
  check_chunks(file, d.dataset, d.facts.shape, d.element_bytes, file_size, where);
  const std::size_t width = d.element_bytes;
  std::vector<char> bytes(d.facts.elements * width);
  if (H5Dread(d.dataset, d.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0)
    fail(where, fmt::format("cannot be read: {}", library_message()));
  const char padding = H5Tget_strpad(d.type) == H5T_STR_SPACEPAD ? ' ' : '\0';
  const bool terminated = H5Tget_strpad(d.type) == H5T_STR_NULLTERM;
  std::vector<std::string> texts;
  texts.reserve(d.facts.elements);
  for (std::size_t row = 0; row < d.facts.elements; ++row) {
    std::string_view text(bytes.data() + row * width, width);
    if (terminated) text = text.substr(0, text.find('\0'));
    while (text.ends_with(padding)) text.remove_suffix(1);
    texts.emplace_back(text);
  }
  return texts;
}

class LibrarySource final : public H5Source {
 public:
  // The file, or (with one) its image in memory.
  LibrarySource(const std::filesystem::path& path, std::uint64_t file_size,
                std::optional<std::span<const std::byte>> image = {})
      : path_(path), file_size_(file_size) {
    const Session session;
    const Id access = access_properties();
    if (!read_through_own_driver(access, image)) fail("the HDF5 library", "takes no driver");
    file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
    if (file_ < 0)
      fail(path.string(), fmt::format("cannot be opened as HDF5: {}", library_message()),
           "The file may be cut short or damaged; make it again");
  }
  ~LibrarySource() override {
    const Session session;
    H5Fclose(file_);
  }
  LibrarySource(const LibrarySource&) = delete;
  LibrarySource& operator=(const LibrarySource&) = delete;

  bool has(std::string_view name) override {
    const Session session;
    return path_exists(file_, name, where(path_, name));
  }

  std::vector<std::string> names(std::string_view group) override {
    const Session session;
    const std::string place = where(path_, group);
    if (group != "/" && !path_exists(file_, group, place)) fail(place, "there is no such group");
    const Id opened(H5Gopen2(file_, std::string(group).c_str(), H5P_DEFAULT), H5Gclose);
    if (!opened) fail(place, "is not a group");
    // In any order: for a stated one the library makes a table of the links first, and frees what
    // it never wrote where a damaged group ends before its table does.
    std::vector<std::string> names;
    const herr_t result = H5Literate(
        opened, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr,
        [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
          static_cast<std::vector<std::string>*>(out)->emplace_back(name);
          return 0;
        },
        &names);
    if (result < 0) fail(place, fmt::format("damaged: {}", library_message()));
    std::sort(names.begin(), names.end());
    return names;
  }

  DatasetFacts facts(std::string_view name) override {
    const Session session;
    return open(name).facts;
  }

  void read(std::string_view name, H5Type type, void* out, std::uint64_t elements) override {
    const Session session;
    const Opened d = open(name);
    if (d.facts.elements != elements || d.facts.type != type)
      fail(where(path_, name), "changed while it was read");
    if (elements == 0) return;
    check_chunks(file_, d.dataset, d.facts.shape, d.element_bytes, file_size_, where(path_, name));
    if (H5Dread(d.dataset, native_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
      fail(where(path_, name), fmt::format("cannot be read: {}", library_message()));
  }

  std::vector<std::string> read_texts(std::string_view name) override {
    const Session session;
    const Opened d = open(name);
    if (d.facts.type != H5Type::text) fail(where(path_, name), "changed while it was read");
    if (d.facts.elements == 0) return {};
    return H5Tis_variable_str(d.type) > 0
               ? read_variable_texts(file_, d.dataset, d.facts.elements, file_size_,
                                     where(path_, name))
               : read_fixed_texts(file_, d, file_size_, where(path_, name));
  }

 private:
  Opened open(std::string_view name) const {
    return open_dataset(file_, name, file_size_, where(path_, name));
  }

  const std::filesystem::path path_;
  const std::uint64_t file_size_;
  hid_t file_ = -1;
};

}  // namespace

std::unique_ptr<H5Source> open_library_source(const std::filesystem::path& path,
                                              std::uint64_t file_size) {
  return std::make_unique<LibrarySource>(path, file_size);
}

std::unique_ptr<H5Source> open_image_source(const std::filesystem::path& path,
                                            std::span<const std::byte> image) {
  return std::make_unique<LibrarySource>(path, image.size(), image);
}

}  // namespace facebench::hdf5
