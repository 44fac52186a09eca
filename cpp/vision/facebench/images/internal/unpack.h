#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace facebench {

// The packings of TIFF files. Each gives exactly `size` bytes, or nothing where the packed ones are
// damaged or stand for fewer; no more memory is taken, whatever they would unpack to.
using Unpacked = std::optional<std::vector<std::uint8_t>>;

// TIFF 6.0, section 13.
Unpacked unpack_lzw(std::span<const std::uint8_t> packed, std::size_t size);
// "PackBits", section 9.
Unpacked unpack_runs(std::span<const std::uint8_t> packed, std::size_t size);
// zlib's format, with its checksum.
Unpacked unpack_deflate(std::span<const std::uint8_t> packed, std::size_t size);

}  // namespace facebench
