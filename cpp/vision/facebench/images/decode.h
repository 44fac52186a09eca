#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "facebench/core/options_fwd.h"
#include "facebench/images/image.h"

namespace facebench {

struct DecodeOptions {
  std::string color = "rgb";
  std::int64_t max_pixels = 200'000'000;
  bool exif_orientation = false;

  static void describe(OptionsBuilder<DecodeOptions>& o);
};

// The pixels of an image file in memory; the format is told by its first bytes, never by a name.
// JPEG: the pixels of libjpeg's defaults (accurate integer DCT, smooth chroma upsampling), which
//   PIL and OpenCV give as well; grey, YCbCr, RGB, CMYK and YCCK (the latter two through
//   R = (255 - C) (255 - K) / 255, no colour profile). A file that ends early, that lacks a scan or
//   whose coded data is damaged is an Error; harmless garbage between its first segments is not.
// PNG: 1 to 16 bits (16 become 8 by v * 255 / 65535, rounded), palette, interlaced; transparency is
//   composited over black. Gamma and colour profiles are ignored.
// PNM: P2, P3, P5, P6 with any maxval to 65535, scaled to 255 and rounded.
// BMP: 1 to 32 bits, palette, masks, runs. TIFF: the first page; 1 to 16 bits of grey, palette, RGB
//   or CMYK, in strips or tiles, unpacked or packed by LZW, PackBits or deflate. WebP: no
//   animations. Transparency and 16 bits as for PNG.
// Throws Error beginning with `where`: an empty file, another format (named where it is known), a
// truncated or damaged file, more pixels than allowed.
Image decode_image(std::span<const std::byte> bytes, const DecodeOptions& options = {},
                   std::string_view where = "image");

// Which way the Exif tag of an image file (of a TIFF file its own tag) asks for it to be turned, 1
// to 8; 1, as it lies, where there is no tag, a damaged one or no image.
int exif_orientation(std::span<const std::byte> bytes);

// Reads and decodes a file. Throws Error naming the file.
Image read_image(const std::filesystem::path& path, const DecodeOptions& options = {});

}  // namespace facebench
