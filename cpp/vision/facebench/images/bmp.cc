#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/images/internal/exif.h"
#include "facebench/images/internal/formats.h"

namespace facebench {
namespace {

using BmpBytes = std::span<const std::uint8_t>;

constexpr std::size_t kBmpFileHeader = 14;

[[noreturn]] void fail_truncated_bmp(const DecodeRequest& request) {
  fail(request.where, "the BMP file is truncated", "Fetch the file again");
}

[[noreturn]] void fail_damaged_bmp(const DecodeRequest& request, std::string_view reason) {
  fail(request.where, fmt::format("the BMP file is damaged ({})", reason), "Fetch the file again");
}

[[noreturn]] void refuse_bmp(const DecodeRequest& request, std::string_view reason) {
  fail(request.where, fmt::format("the BMP file is of a kind that is not decoded ({})", reason),
       "Convert it to PNG, or pass pixels");
}

// What the headers say. Source: Microsoft, "Bitmap Storage", and OS/2's BITMAPCOREHEADER.
struct BmpHeader {
  std::uint64_t width = 0, height = 0;
  bool from_top = false;
  int bits = 0;
  std::uint32_t packing = 0;                // 0 none, 1 and 2 runs of 8 and 4 bits, 3 and 6 masks
  std::array<std::uint32_t, 4> masks = {};  // red, green, blue, alpha
  std::size_t pixels_at = 0, palette_at = 0;
  std::size_t palette_entry = 4;  // bytes
};

BmpHeader read_bmp_header(BmpBytes b, const DecodeRequest& request) {
  if (b.size() < kBmpFileHeader + 4) fail_truncated_bmp(request);
  const auto number = [&](std::size_t at, int size) { return whole_number(b, at, size, false); };
  BmpHeader header;
  header.pixels_at = number(10, 4);
  const std::size_t size = number(kBmpFileHeader, 4);
  const bool core = size == 12;
  if (!core && (size < 16 || size > 124)) fail_damaged_bmp(request, "its header's size");
  if (b.size() - kBmpFileHeader < size) fail_truncated_bmp(request);
  header.palette_at = kBmpFileHeader + size;
  header.palette_entry = core ? 3 : 4;
  header.width = core ? number(18, 2) : number(18, 4);
  std::uint32_t height = core ? number(20, 2) : number(22, 4);
  if (!core && height >> 31) {  // a negative height: rows from top to bottom
    height = ~height + 1;
    header.from_top = true;
  }
  header.height = height;
  header.bits = static_cast<int>(core ? number(24, 2) : number(28, 2));
  if (size >= 20 && !core) header.packing = number(30, 4);
  constexpr std::uint32_t kMasks = 3, kMasksWithAlpha = 6;
  const bool masked = header.packing == kMasks || header.packing == kMasksWithAlpha;
  if (header.packing > 2 && !masked) refuse_bmp(request, fmt::format("packing {}", header.packing));
  if (masked && header.bits != 16 && header.bits != 32) fail_damaged_bmp(request, "masks");
  if (masked) {
    // Within a long header, or behind a short one.
    const bool alpha = size >= 56 || header.packing == kMasksWithAlpha;
    if (b.size() < 54 + 16) fail_truncated_bmp(request);
    for (std::size_t c = 0; c < (alpha ? 4u : 3u); ++c) header.masks[c] = number(54 + 4 * c, 4);
  } else if (header.bits == 16) {
    header.masks = {0x7c00, 0x03e0, 0x001f, 0};
  } else if (header.bits == 32) {
    header.masks = {0xff0000, 0x00ff00, 0x0000ff, 0};
  }
  for (const std::uint32_t mask : header.masks)  // a run of ones
    if (mask != 0 && ((mask >> std::countr_zero(mask)) & ((mask >> std::countr_zero(mask)) + 1)))
      fail_damaged_bmp(request, "masks");
  return header;
}

std::vector<std::array<std::uint8_t, 3>> read_bmp_palette(BmpBytes b, const BmpHeader& header,
                                                          const DecodeRequest& request) {
  const std::size_t end = std::min(header.pixels_at, b.size());
  const std::size_t room = end > header.palette_at ? end - header.palette_at : 0;
  const std::size_t count = std::min(room / header.palette_entry, std::size_t{1} << header.bits);
  if (count == 0) fail_damaged_bmp(request, "no palette");
  std::vector<std::array<std::uint8_t, 3>> palette(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* p = b.data() + header.palette_at + header.palette_entry * i;
    palette[i] = {p[2], p[1], p[0]};
  }
  return palette;
}

// Indices of a picture that is packed by runs, rows from bottom to top; what a jump leaves out is
// 0.
std::vector<std::uint8_t> unpack_bmp_runs(BmpBytes b, const BmpHeader& header,
                                          const DecodeRequest& request) {
  const std::uint64_t width = header.width, height = header.height;
  std::vector<std::uint8_t> indices(width * height);
  const int per_byte = header.bits == 4 ? 2 : 1;
  std::uint64_t x = 0, y = 0;
  std::size_t at = header.pixels_at;
  const auto next = [&] {
    if (at >= b.size()) fail_truncated_bmp(request);
    return b[at++];
  };
  const auto put = [&](int index) {
    if (y >= height || x >= width) fail_damaged_bmp(request, "a run leaves the picture");
    indices[y * width + x++] = static_cast<std::uint8_t>(index);
  };
  const auto part = [&](std::uint8_t byte, int k) {
    return per_byte == 1 ? byte : k % 2 == 0 ? byte >> 4 : byte & 15;
  };
  for (;;) {
    const int count = next(), value = next();
    if (count > 0) {
      for (int k = 0; k < count; ++k) put(part(static_cast<std::uint8_t>(value), k));
    } else if (value == 0) {  // the end of a row
      x = 0;
      ++y;
    } else if (value == 1) {  // the end of the picture
      return indices;
    } else if (value == 2) {  // a jump
      x += next();
      y += next();
    } else {
      std::uint8_t byte = 0;
      for (int k = 0; k < value; ++k) {
        if (k % per_byte == 0) byte = next();
        put(part(byte, k));
      }
      if ((value + per_byte - 1) / per_byte % 2 == 1) next();  // to an even place
    }
  }
}

// Bits below a mask as 0 to 255.
std::uint8_t bits_below(std::uint32_t value, std::uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = std::countr_zero(mask);
  const std::uint64_t most = mask >> shift;
  return static_cast<std::uint8_t>(((value & mask) >> shift) * std::uint64_t{255} / most);
}

// With a mask of alpha the picture is composited over black, unless every pixel is said to be
// clear: programs that know no alpha leave 0 there.
void read_masked(const BmpHeader& header, const std::vector<const std::uint8_t*>& rows,
                 Image& image) {
  const std::size_t bytes = static_cast<std::size_t>(header.bits) / 8;
  const auto value = [&](const std::uint8_t* p) {
    return whole_number({p, bytes}, 0, static_cast<int>(bytes), false);
  };
  bool clear = header.masks[3] != 0;
  for (std::size_t y = 0; y < rows.size() && clear; ++y)
    for (std::size_t x = 0; x < header.width && clear; ++x)
      clear = bits_below(value(rows[y] + bytes * x), header.masks[3]) == 0;
  const bool over_black = header.masks[3] != 0 && !clear;
  for (std::size_t y = 0; y < rows.size(); ++y) {
    std::uint8_t* out = image.row(static_cast<int>(y));
    for (std::size_t x = 0; x < header.width; ++x) {
      const std::uint32_t pixel = value(rows[y] + bytes * x);
      const int alpha = over_black ? bits_below(pixel, header.masks[3]) : 255;
      for (std::size_t c = 0; c < 3; ++c)
        *out++ =
            static_cast<std::uint8_t>((bits_below(pixel, header.masks[c]) * alpha + 127) / 255);
    }
  }
}

}  // namespace

Image decode_bmp(std::span<const std::byte> bytes, const DecodeRequest& request) {
  const BmpBytes b(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const BmpHeader header = read_bmp_header(b, request);
  request.check_size(header.width, header.height);
  const auto width = static_cast<std::size_t>(header.width);
  const auto height = static_cast<std::size_t>(header.height);
  constexpr std::array<int, 6> kBits = {1, 4, 8, 16, 24, 32};
  if (std::ranges::find(kBits, header.bits) == kBits.end())
    refuse_bmp(request, fmt::format("{} bits a pixel", header.bits));
  if (header.pixels_at > b.size()) fail_truncated_bmp(request);
  if (header.pixels_at < header.palette_at) fail_damaged_bmp(request, "pixels within its header");
  const bool runs = header.packing == 1 || header.packing == 2;
  if (runs && (header.bits != (header.packing == 1 ? 8 : 4) || header.from_top))
    fail_damaged_bmp(request, "runs of another depth");

  // Rows from top to bottom, each filled to four bytes in the file.
  std::vector<std::uint8_t> unpacked;
  std::vector<const std::uint8_t*> rows(height);
  const std::size_t stride =
      runs ? width : (width * static_cast<std::size_t>(header.bits) + 31) / 32 * 4;
  const std::uint8_t* first = b.data() + header.pixels_at;
  if (runs) {
    // A byte of runs stands for at most 255 pixels.
    if ((b.size() - header.pixels_at) * 255 < width * height) fail_truncated_bmp(request);
    unpacked = unpack_bmp_runs(b, header, request);
    first = unpacked.data();
  } else if (b.size() - header.pixels_at < stride * height) {
    fail_truncated_bmp(request);
  }
  for (std::size_t y = 0; y < height; ++y)
    rows[y] = first + stride * (header.from_top ? y : height - 1 - y);

  Image image(static_cast<int>(width), static_cast<int>(height), ColorOrder::rgb);
  if (header.bits == 24) {
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x)
        for (std::size_t c = 0; c < 3; ++c)
          image.row(static_cast<int>(y))[3 * x + c] = rows[y][3 * x + 2 - c];
    return image;
  }
  if (header.bits > 8) {
    read_masked(header, rows, image);
    return image;
  }
  const auto palette = read_bmp_palette(b, header, request);
  const std::size_t bits = runs ? 8 : static_cast<std::size_t>(header.bits);
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t bit = x * bits;
      const std::size_t index =
          rows[y][bit / 8] >> (8 - bits - bit % 8) & ((std::size_t{1} << bits) - 1);
      if (index >= palette.size()) fail_damaged_bmp(request, "a colour that its palette has not");
      std::ranges::copy(palette[index], image.row(static_cast<int>(y)) + 3 * x);
    }
  return image;
}

}  // namespace facebench
