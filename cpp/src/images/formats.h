#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "facebench/images/image.h"

namespace facebench {

// What the format readers share. Each gives rgb or gray, whichever the file holds.
struct DecodeLimits {
  std::int64_t max_pixels;
  std::string_view where;

  // Throws Error where the size is zero or beyond max_pixels.
  void check(std::uint64_t width, std::uint64_t height) const;
};

Image decode_jpeg(std::span<const std::byte> bytes, const DecodeLimits& limits,
                  bool exif_orientation);
Image decode_png(std::span<const std::byte> bytes, const DecodeLimits& limits);
Image decode_pnm(std::span<const std::byte> bytes, const DecodeLimits& limits);

}  // namespace facebench
