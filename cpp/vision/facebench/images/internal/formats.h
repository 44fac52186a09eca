#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "facebench/core/registry.h"
#include "facebench/images/image.h"

namespace facebench {

// What every reader of a format is told.
struct DecodeRequest {
  std::int64_t max_pixels;
  std::string_view where;  // for messages

  // Throws Error where the size is zero or beyond max_pixels.
  void check_size(std::uint64_t width, std::uint64_t height) const;
};

// How files of a format are decoded. What tells them: image_file_formats().
struct ImageFormat {
  std::string name;  // as image_file_formats() calls it
  // The image as rgb or gray, whichever the file holds. Throws Error for a damaged file.
  Image (*decode)(std::span<const std::byte> bytes, const DecodeRequest& request);
  // The orientation (1 to 8) that the file's tag asks for; never throws. Null where files of the
  // format have none.
  int (*orientation)(std::span<const std::byte> bytes) = nullptr;
};

// JPEG, PNG, PNM, BMP, TIFF, WebP.
const Table<ImageFormat>& image_formats();

Image decode_jpeg(std::span<const std::byte> bytes, const DecodeRequest& request);
Image decode_png(std::span<const std::byte> bytes, const DecodeRequest& request);
Image decode_pnm(std::span<const std::byte> bytes, const DecodeRequest& request);
Image decode_bmp(std::span<const std::byte> bytes, const DecodeRequest& request);
Image decode_tiff(std::span<const std::byte> bytes, const DecodeRequest& request);
Image decode_webp(std::span<const std::byte> bytes, const DecodeRequest& request);

int orientation_of_jpeg(std::span<const std::byte> bytes);
int orientation_of_png(std::span<const std::byte> bytes);
int orientation_of_tiff(std::span<const std::byte> bytes);
int orientation_of_webp(std::span<const std::byte> bytes);

}  // namespace facebench
