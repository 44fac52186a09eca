#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "facebench/images/internal/unpack.h"
#include "facebench/io/internal/inflate.h"

namespace facebench {

Unpacked unpack_lzw(std::span<const std::uint8_t> packed, std::size_t size) {
  constexpr std::size_t kClear = 256, kEnd = 257, kFirst = 258, kMost = 4096;
  // An entry is the one before it and a last byte.
  struct Entry {
    std::uint16_t before, length;
    std::uint8_t first, last;
  };
  std::array<Entry, kMost> table;
  for (std::size_t i = 0; i < 256; ++i)
    table[i] = {0, 1, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i)};
  std::vector<std::uint8_t> out(size);
  std::size_t written = 0, entries = kFirst, width = 9, previous = kClear, bit = 0;
  while (written < size) {
    if (bit + width > 8 * packed.size()) return {};
    std::size_t code = 0;
    for (std::size_t k = 0; k < width; ++k, ++bit)
      code = code << 1 | (packed[bit / 8] >> (7 - bit % 8) & 1);
    if (code == kEnd) return {};
    if (code == kClear) {
      entries = kFirst;
      width = 9;
      previous = kClear;
      continue;
    }
    if (previous != kClear) {
      // The next entry may be the one that is asked for.
      if (code > entries || (code == entries && entries == kMost)) return {};
      const std::uint8_t last = code == entries ? table[previous].first : table[code].first;
      if (entries < kMost)
        table[entries++] = {static_cast<std::uint16_t>(previous),
                            static_cast<std::uint16_t>(table[previous].length + 1),
                            table[previous].first, last};
    } else if (code > 255) {
      return {};
    }
    const std::size_t length = table[code].length;
    std::size_t entry = code;
    for (std::size_t k = length; k-- > 0; entry = table[entry].before)
      if (written + k < size) out[written + k] = table[entry].last;
    written += length;
    previous = code;
    // TIFF widens one code early.
    if (entries + 1 >= (std::size_t{1} << width) && width < 12) ++width;
  }
  return out;
}

Unpacked unpack_runs(std::span<const std::uint8_t> packed, std::size_t size) {
  std::vector<std::uint8_t> out;
  out.reserve(size);
  for (std::size_t at = 0; out.size() < size;) {
    if (at >= packed.size()) return {};
    const std::size_t head = packed[at++];
    if (head == 128) continue;
    const bool repeated = head > 128;
    const std::size_t count = std::min(repeated ? 257 - head : head + 1, size - out.size());
    const std::size_t taken = repeated ? 1 : count;
    if (packed.size() - at < taken) return {};
    if (repeated)
      out.insert(out.end(), count, packed[at]);
    else
      out.insert(out.end(), packed.begin() + static_cast<std::ptrdiff_t>(at),
                 packed.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += taken;
  }
  return out;
}

Unpacked unpack_deflate(std::span<const std::uint8_t> packed, std::size_t size) {
  if (packed.size() > std::numeric_limits<std::uint32_t>::max()) return {};
  const Inflated out = inflate_zlib(std::as_bytes(packed), size);
  if (!out.whole || out.bytes.size() != size) return {};
  const auto* first = reinterpret_cast<const std::uint8_t*>(out.bytes.data());
  return Unpacked(std::in_place, first, first + size);
}

}  // namespace facebench
