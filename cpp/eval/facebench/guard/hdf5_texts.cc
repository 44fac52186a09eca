// Texts of variable length. A dataset of them holds for each its length and where it lies: the
// address of a "global heap", a run of numbered objects, and a number (HDF5 file format 3.0,
// III.E). The library follows both without looking (H5HG_read, HDF5 1.10), so a damaged file makes
// it read and write memory that is not its own. Here every address, size and number is checked
// first, and all heaps and all texts together have to fit into the file.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/io/internal/hdf5_library.h"
#include "facebench/io/internal/memory_number.h"

namespace facebench::hdf5 {
namespace {

// The dataset holds for each text its length (4 bytes), the address of its heap (8) and the number
// of its object (4). Addresses always have 8 bytes here, because H5Reader refuses other files.
constexpr std::size_t kReferenceBytes = 16;

struct TextsFile {
  hid_t id;
  std::uint64_t bytes;
  const std::string& where;

  [[noreturn]] void refuse(const std::string& what) const {
    fail(where, "damaged: " + what, "Make the file again");
  }

  std::vector<std::byte> read(std::uint64_t address, std::uint64_t count,
                              std::string_view what) const {
    if (address > bytes || count > bytes - address)
      refuse(fmt::format("{} of {} bytes at byte {} reaches beyond the file's end at {}", what,
                         count, address, bytes));
    std::vector<std::byte> out(count);
    if (!read_bytes(id, address, out)) fail(where, "cannot be read", "The disk may have failed");
    return out;
  }
};

// Finds the objects of a heap in the heap's bytes.
class Heap {
 public:
  Heap(const TextsFile& file, std::uint64_t address) {
    constexpr std::uint64_t kHeader = 16, kObjectHeader = 16;
    const std::vector<std::byte> header = file.read(address, kHeader, "a heap of texts");
    const auto size = number_at<std::uint64_t>(header.data() + 8);
    if (std::memcmp(header.data(), "GCOL\x01", 5) != 0 || size < kHeader)
      file.refuse(fmt::format("no heap of texts is at byte {}", address));
    bytes_ = file.read(address, size, "a heap of texts");
    for (std::uint64_t at = kHeader; size - at >= kObjectHeader;) {
      const auto number = number_at<std::uint16_t>(bytes_.data() + at);
      if (number == 0) break;  // free from here on
      const auto length = number_at<std::uint64_t>(bytes_.data() + at + 8);
      at += kObjectHeader;
      if (length > size - at)
        file.refuse(fmt::format("object {} of the heap of texts at byte {} reaches beyond its end",
                                number, address));
      objects_.push_back({number, at, length});
      at += std::min(length + (8 - length % 8) % 8, size - at);  // the next begins at an 8th byte
    }
    std::stable_sort(objects_.begin(), objects_.end(),
                     [](const Object& a, const Object& b) { return a.number < b.number; });
  }

  std::uint64_t size() const { return bytes_.size(); }

  // Returns no value if the heap has no object of this number, or the object is shorter.
  std::optional<std::string_view> text(std::uint32_t number, std::uint32_t length) const {
    const auto found =
        std::lower_bound(objects_.begin(), objects_.end(), number,
                         [](const Object& object, std::uint32_t n) { return object.number < n; });
    if (found == objects_.end() || found->number != number || length > found->length) return {};
    return std::string_view(reinterpret_cast<const char*>(bytes_.data()) + found->at, length);
  }

 private:
  struct Object {
    std::uint16_t number;
    std::uint64_t at, length;
  };
  std::vector<std::byte> bytes_;
  std::vector<Object> objects_;
};

std::vector<std::byte> read_chunks(const TextsFile& file, hid_t dataset, hid_t properties,
                                   std::uint64_t elements) {
  hsize_t rows = 0;
  unsigned options = 0;
  std::vector<std::byte> out(elements * kReferenceBytes);  // an absent chunk holds empty texts
  if (H5Pget_chunk(properties, 1, &rows) != 1 || rows == 0 ||
      H5Pget_chunk_opts(properties, &options) < 0)
    file.refuse(library_message());
  if (has_filter(properties, H5Z_FILTER_FLETCHER32))  // the library writes those of numbers alone
    file.refuse("texts of variable length with a checksum");
  for (hsize_t first = 0; first < elements; first += rows) {
    haddr_t address = 0;
    hsize_t stored = 0;
    std::uint32_t mask = 0;
    if (H5Dget_chunk_info_by_coord(dataset, &first, &mask, &address, &stored) < 0)
      file.refuse(library_message());
    if (address == HADDR_UNDEF) continue;
    std::vector<std::byte> bytes = file.read(address, stored, "a chunk of texts");
    const hsize_t count = std::min<hsize_t>(rows, elements - first);
    if (count < rows && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0) mask = ~0u;
    bytes = unfiltered(std::move(bytes), properties, mask, rows * kReferenceBytes, file.where);
    std::copy_n(bytes.begin(), count * kReferenceBytes, out.begin() + first * kReferenceBytes);
  }
  return out;
}

std::vector<std::byte> read_references(const TextsFile& file, hid_t dataset,
                                       std::uint64_t elements) {
  const Id properties(H5Dget_create_plist(dataset), H5Pclose);
  switch (H5Pget_layout(properties)) {
    case H5D_CONTIGUOUS:
      return file.read(H5Dget_offset(dataset), elements * kReferenceBytes, "a list of texts");
    case H5D_CHUNKED:
      return read_chunks(file, dataset, properties, elements);
    default:
      fail(file.where, "has texts of variable length in an object's header, which is not supported",
           "Write it contiguous, or its texts with a fixed length");
  }
}

}  // namespace

std::vector<std::string> read_variable_texts(hid_t file_id, hid_t dataset, std::uint64_t elements,
                                             std::uint64_t file_bytes, const std::string& where) {
  const TextsFile file{file_id, file_bytes, where};
  // Only empty texts take no room, and only compressed ones take less than 16 bytes.
  if (elements > file_bytes)
    file.refuse(fmt::format("claims {} texts, but the file has {} bytes", elements, file_bytes));
  const std::vector<std::byte> references = read_references(file, dataset, elements);

  std::unordered_map<std::uint64_t, Heap> heaps;
  std::uint64_t heap_bytes = 0, text_bytes = 0;
  std::vector<std::string> texts(elements);
  for (std::size_t row = 0; row < elements; ++row) {
    const std::byte* reference = references.data() + row * kReferenceBytes;
    const auto length = number_at<std::uint32_t>(reference);
    const auto address = number_at<std::uint64_t>(reference + 4);
    const auto number = number_at<std::uint32_t>(reference + 12);
    if (length == 0 || address == 0) continue;
    auto found = heaps.find(address);
    if (found == heaps.end()) {
      found = heaps.emplace(address, Heap(file, address)).first;
      heap_bytes += found->second.size();
    }
    const auto text = found->second.text(number, length);
    if (!text)
      file.refuse(
          fmt::format("text {} of {} bytes is not in the heap at byte {}", row, length, address));
    text_bytes += length;
    if (heap_bytes > file_bytes || text_bytes > file_bytes)
      file.refuse(fmt::format("its texts lie on top of one another (text {})", row));
    texts[row] = text->substr(0, text->find('\0'));
  }
  return texts;
}

}  // namespace facebench::hdf5
