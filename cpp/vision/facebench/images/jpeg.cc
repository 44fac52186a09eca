#include <fmt/format.h>
#include <turbojpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/images/encode.h"
#include "facebench/images/internal/formats.h"

namespace facebench {
namespace {

struct DestroyHandle {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Handle = std::unique_ptr<void, DestroyHandle>;

// What the markers before the coded data tell beyond what the decoder does.
struct Markers {
  bool adobe = false;   // CMYK then is stored inverted
  int orientation = 1;  // Exif, 1 to 8
};

std::uint32_t integer(std::span<const std::uint8_t> b, std::size_t at, int bytes, bool big) {
  std::uint32_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= static_cast<std::uint32_t>(b[at + i]) << (8 * (big ? bytes - 1 - i : i));
  return value;
}

// The orientation tag (0x0112) of the first directory of a TIFF block; 1 where there is none.
int exif_orientation_of(std::span<const std::uint8_t> tiff) {
  if (tiff.size() < 8) return 1;
  const bool big = tiff[0] == 'M';
  if (!(tiff[0] == tiff[1] && (big || tiff[0] == 'I')) || integer(tiff, 2, 2, big) != 42) return 1;
  const std::size_t start = integer(tiff, 4, 4, big);
  if (start > tiff.size() || tiff.size() - start < 2) return 1;
  const std::size_t count = integer(tiff, start, 2, big);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = start + 2 + 12 * i;
    if (entry + 12 > tiff.size()) return 1;
    if (integer(tiff, entry, 2, big) != 0x0112) continue;
    const auto value = static_cast<int>(integer(tiff, entry + 8, 2, big));
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

Markers read_markers(std::span<const std::uint8_t> b) {
  Markers result;
  std::size_t at = 2;
  while (at + 4 <= b.size()) {
    if (b[at] != 0xff) break;
    const std::uint8_t code = b[at + 1];
    if (code == 0xff) {  // filling
      ++at;
      continue;
    }
    if (code == 0xda || code == 0xd9) break;  // coded data, or the end
    if (code == 0x01 || (code >= 0xd0 && code <= 0xd8)) {
      at += 2;
      continue;
    }
    const std::size_t length = integer(b, at + 2, 2, true);
    if (length < 2 || length > b.size() - at - 2) break;
    const auto body = b.subspan(at + 4, length - 2);
    if (code == 0xee && body.size() >= 5 && std::memcmp(body.data(), "Adobe", 5) == 0)
      result.adobe = true;
    if (code == 0xe1 && body.size() >= 6 && std::memcmp(body.data(), "Exif\0", 6) == 0)
      result.orientation = exif_orientation_of(body.subspan(6));
    at += 2 + length;
  }
  return result;
}

// As Exif 2.32, table 6: 2 mirrors left to right, 3 turns by 180 degrees, 4 mirrors top to bottom,
// 5 to 8 swap rows and columns.
Image turn(const Image& image, int orientation) {
  if (orientation == 1) return image;
  const bool swapped = orientation >= 5;
  const int width = swapped ? image.height : image.width;
  const int height = swapped ? image.width : image.height;
  Image result(width, height, image.order);
  const int channels = image.channels();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int u = swapped ? y : x, v = swapped ? x : y;
      if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
        u = image.width - 1 - u;
      if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
        v = image.height - 1 - v;
      std::copy_n(image.row(v) + u * channels, channels, result.row(y) + x * channels);
    }
  }
  return result;
}

// Whether a warning of the decoder means missing pixels, or harmless extra bytes.
bool pixels_are_missing(const std::string& warning) {
  return warning.find("remature end") != std::string::npos ||
         warning.find("bad Huffman code") != std::string::npos;
}

bool has_end_marker(std::span<const std::uint8_t> b) {
  static constexpr std::uint8_t end[] = {0xff, 0xd9};
  return std::find_end(b.begin(), b.end(), std::begin(end), std::end(end)) != b.end();
}

[[noreturn]] void fail_to_decode(const DecodeRequest& request, std::span<const std::uint8_t> b,
                                 const std::string& message) {
  const bool cut = !has_end_marker(b) || message.find("remature end") != std::string::npos;
  fail(request.where,
       fmt::format("the JPEG file is {} ({})", cut ? "truncated" : "damaged", message),
       "Fetch the file again");
}

// From marker to marker; in coded data 0xff stands before 0, a restart marker or the next marker.
std::uint64_t count_scans(std::span<const std::uint8_t> b) {
  std::uint64_t scans = 0;
  for (std::size_t at = 2; at + 4 <= b.size();) {
    const void* next = std::memchr(b.data() + at, 0xff, b.size() - at);
    if (!next) break;
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(next) - b.data());
    if (at + 4 > b.size()) break;
    const std::uint8_t code = b[at + 1];
    const bool alone = code == 0 || code == 1 || code == 0xff || (code >= 0xd0 && code <= 0xd8);
    if (alone) {
      ++at;
      continue;
    }
    if (code == 0xd9) break;  // the end of the picture
    scans += code == 0xda;
    at += 2 + std::max<std::size_t>(integer(b, at + 2, 2, true), 2);
  }
  return scans;
}

// Each scan of a progressive file goes over all pixels again. Those of encoders have about ten.
void check_scans(std::span<const std::uint8_t> b, std::uint64_t pixels,
                 const DecodeRequest& request) {
  constexpr std::uint64_t kMostScans = 100, kMostPixels = 4'000'000'000;
  const std::uint64_t scans = count_scans(b);
  if (scans > kMostScans || scans * pixels > kMostPixels)
    fail(request.where,
         fmt::format("the JPEG file has {} scans of {} pixels; more than {} scans, or {} pixels in "
                     "all of them, are not decoded",
                     scans, pixels, kMostScans, kMostPixels));
}

}  // namespace

Image decode_jpeg(std::span<const std::byte> bytes, const DecodeRequest& request) {
  const std::span b(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const Handle handle(tjInitDecompress());
  if (!handle) fail(request.where, "the JPEG decoder cannot be started");
  int width = 0, height = 0, subsampling = 0, space = 0;
  const auto size = static_cast<unsigned long>(b.size());
  if (tjDecompressHeader3(handle.get(), b.data(), size, &width, &height, &subsampling, &space) != 0)
    fail_to_decode(request, b, tjGetErrorStr2(handle.get()));
  if (width < 1 || height < 1) fail_to_decode(request, b, "no picture in it");
  request.check_size(width, height);
  check_scans(b, static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height), request);

  const Markers markers = read_markers(b);
  const bool four = space == TJCS_CMYK || space == TJCS_YCCK;
  const bool gray = space == TJCS_GRAY;
  Image image(width, height, gray ? ColorOrder::gray : ColorOrder::rgb);
  std::vector<std::uint8_t> inks;
  if (four) inks.resize(static_cast<std::size_t>(width) * height * 4);
  const int format = four ? TJPF_CMYK : gray ? TJPF_GRAY : TJPF_RGB;
  // The decoder's own bound is 500 scans.
  const int status =
      tjDecompress2(handle.get(), b.data(), size, four ? inks.data() : image.data.data(), width, 0,
                    height, format, TJFLAG_LIMITSCANS);
  if (status != 0) {
    const std::string message = tjGetErrorStr2(handle.get());
    if (tjGetErrorCode(handle.get()) == TJERR_FATAL || pixels_are_missing(message))
      fail_to_decode(request, b, message);
    // The decoder reports only the first warning: extra bytes before the data must not hide that
    // they end early.
    if (!has_end_marker(b)) fail_to_decode(request, b, message);
  }
  if (four) {
    const std::size_t pixels = static_cast<std::size_t>(width) * height;
    const int flip = markers.adobe ? 0 : 255;
    for (std::size_t i = 0; i < pixels; ++i) {
      const int white = inks[4 * i + 3] ^ flip;
      for (int c = 0; c < 3; ++c)
        image.data[3 * i + c] =
            static_cast<std::uint8_t>(((inks[4 * i + c] ^ flip) * white + 127) / 255);
    }
  }
  return request.exif_orientation ? turn(image, markers.orientation) : image;
}

std::string encode_jpeg(const Image& image, int quality) {
  check_image(image);
  if (quality < 1 || quality > 100)
    throw std::invalid_argument(fmt::format("JPEG quality is 1 to 100, not {}", quality));
  if (image.width > 65535 || image.height > 65535)
    throw std::invalid_argument("a JPEG file has at most 65,535 pixels a side");
  const Handle handle(tjInitCompress());
  if (!handle) throw Error("the JPEG encoder cannot be started");
  const bool gray = image.order == ColorOrder::gray;
  const int format = gray ? TJPF_GRAY : image.order == ColorOrder::rgb ? TJPF_RGB : TJPF_BGR;
  const int subsampling = gray ? TJSAMP_GRAY : quality < 90 ? TJSAMP_420 : TJSAMP_444;
  unsigned char* out = nullptr;
  unsigned long size = 0;
  const int status = tjCompress2(handle.get(), image.data.data(), image.width, 0, image.height,
                                 format, &out, &size, subsampling, quality, TJFLAG_ACCURATEDCT);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(out, tjFree);
  if (status != 0)
    throw Error(fmt::format("the JPEG encoder failed: {}", tjGetErrorStr2(handle.get())));
  return std::string(reinterpret_cast<const char*>(out), size);
}

}  // namespace facebench
