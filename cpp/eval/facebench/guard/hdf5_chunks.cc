// Datasets in chunks. The library takes what the index says of a chunk's bytes, and whatever its
// filters make of them, for a whole chunk (H5D__chunk_lock, HDF5 1.10), so that a damaged file
// makes it read memory that is not its own, or ask for a thousand times the file's size. Here each
// chunk is unpacked once before the library does so.
#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/error.h"
#include "facebench/io/internal/hdf5_library.h"
#include "facebench/io/internal/inflate.h"

namespace facebench::hdf5 {
namespace {

constexpr std::size_t kChecksumBytes = 4;  // bytes behind what it is of

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  fail(where, "damaged: " + what, "Make the file again");
}

struct Filter {
  H5Z_filter_t kind;
  unsigned element = 0;  // of the shuffle: bytes
};

Filter filter_at(hid_t properties, int i) {
  Filter filter;
  unsigned flags = 0;
  std::size_t values = 1;
  filter.kind = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values,
                               &filter.element, 0, nullptr, nullptr);
  return filter;
}

// HDF5's shuffle keeps the first bytes of all elements together, then the second bytes, and so on.
std::vector<std::byte> unshuffled(std::span<const std::byte> bytes, std::size_t element) {
  std::vector<std::byte> out(bytes.begin(), bytes.end());
  const std::size_t count = bytes.size() / element;
  for (std::size_t b = 0; b < element; ++b)
    for (std::size_t i = 0; i < count; ++i) out[i * element + b] = bytes[b * count + i];
  return out;
}

}  // namespace

bool has_filter(hid_t properties, H5Z_filter_t kind) {
  for (int i = 0; i < H5Pget_nfilters(properties); ++i)
    if (filter_at(properties, i).kind == kind) return true;
  return false;
}

std::vector<std::byte> unfiltered(std::vector<std::byte> bytes, hid_t properties,
                                  std::uint32_t mask, std::uint64_t chunk_bytes,
                                  const std::string& where) {
  // What was there before each filter was applied; of a deflated chunk nothing says it but this.
  std::vector<std::pair<Filter, std::uint64_t>> applied;
  std::uint64_t before = chunk_bytes;
  for (int i = 0; i < H5Pget_nfilters(properties); ++i) {
    if ((mask >> i & 1) != 0) continue;
    applied.emplace_back(filter_at(properties, i), before);
    if (applied.back().first.kind == H5Z_FILTER_FLETCHER32) before += kChecksumBytes;
  }
  for (auto at = applied.rbegin(); at != applied.rend(); ++at) {
    const auto& [filter, bytes_before] = *at;
    if (filter.kind == H5Z_FILTER_DEFLATE) {
      Inflated inflated = inflate_zlib(bytes, bytes_before);
      if (!inflated.whole) refuse(where, "a chunk cannot be expanded to what it should hold");
      bytes = std::move(inflated.bytes);
    } else if (filter.kind == H5Z_FILTER_SHUFFLE) {
      bytes = unshuffled(bytes, std::clamp<std::size_t>(filter.element, 1, chunk_bytes));
    } else {  // of the kinds that were let in, a checksum
      if (bytes.size() < kChecksumBytes) refuse(where, "a chunk is shorter than its checksum");
      bytes.erase(bytes.end() - kChecksumBytes, bytes.end());
    }
  }
  if (bytes.size() != chunk_bytes) refuse(where, "a chunk has not the size that it should have");
  return bytes;
}

void check_chunks(hid_t file, hid_t dataset, std::span<const std::int64_t> shape,
                  std::uint64_t element_bytes, std::uint64_t file_bytes, const std::string& where) {
  const Id properties(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(properties) != H5D_CHUNKED) return;
  hsize_t sides[H5S_MAX_RANK];
  unsigned options = 0;
  const int rank = H5Pget_chunk(properties, H5S_MAX_RANK, sides);
  if (rank < 0 || static_cast<std::size_t>(rank) != shape.size() ||
      std::find(sides, sides + rank, 0) != sides + rank ||
      H5Pget_chunk_opts(properties, &options) < 0)
    refuse(where, "its chunks have another shape");
  std::uint64_t chunks = 1, chunk_bytes = element_bytes;
  const auto along = [&](std::size_t i) { return (shape[i] + sides[i] - 1) / sides[i]; };
  bool fits = true;
  for (std::size_t i = 0; i < shape.size(); ++i)
    fits = fits && multiply(chunks, along(i)) && multiply(chunk_bytes, sides[i]);
  // The library keeps some hundred bytes for each, and its address takes eight in the file.
  if (!fits || chunks > std::max<std::uint64_t>(1, file_bytes / sizeof(haddr_t)))
    fail(where, fmt::format("is in more chunks than a file of {} bytes can hold", file_bytes));
  const bool filtered = H5Pget_nfilters(properties) > 0;
  std::vector<hsize_t> corner(shape.size());
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    bool reaches_beyond = false;
    std::uint64_t rest = chunk;
    for (std::size_t i = shape.size(); i-- > 0; rest /= along(i)) {
      corner[i] = rest % along(i) * sides[i];
      reaches_beyond |= corner[i] + sides[i] > static_cast<hsize_t>(shape[i]);
    }
    auto stored = stored_chunk(file, dataset, corner.data());
    if (!stored) continue;  // where the index is damaged, reading says so
    if (reaches_beyond && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0) stored->mask = ~0u;
    if (!filtered) {
      if (stored->bytes != chunk_bytes)
        refuse(where, "a chunk has not the size that it should have");
      continue;
    }
    if (stored->bytes > file_bytes) refuse(where, "a chunk is larger than the file");
    std::vector<std::byte> bytes(stored->bytes);
    if (!read_bytes(file, stored->address, bytes)) refuse(where, "a chunk is not in the file");
    unfiltered(std::move(bytes), properties, stored->mask, chunk_bytes, where);
  }
}

}  // namespace facebench::hdf5
