#include <fmt/format.h>
#include <webp/decode.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/images/internal/exif.h"
#include "facebench/images/internal/formats.h"

namespace facebench {
namespace {

[[noreturn]] void fail_to_decode(const DecodeRequest& request, VP8StatusCode status) {
  const bool cut = status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED;
  fail(request.where, fmt::format("the WebP file is {}", cut ? "truncated" : "damaged"),
       "Fetch the file again");
}

std::span<const std::uint8_t> unsigned_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

Image decode_webp(std::span<const std::byte> bytes, const DecodeRequest& request) {
  const auto b = unsigned_bytes(bytes);
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) fail(request.where, "the WebP decoder cannot be started");
  const WebPBitstreamFeatures& found = config.input;
  const VP8StatusCode header = WebPGetFeatures(b.data(), b.size(), &config.input);
  if (header != VP8_STATUS_OK) fail_to_decode(request, header);
  if (found.has_animation)
    fail(request.where, "the WebP file is an animation", "Save one of its pictures as a file");
  request.check_size(static_cast<std::uint64_t>(found.width),
                     static_cast<std::uint64_t>(found.height));
  Image image(found.width, found.height, ColorOrder::rgb);
  std::vector<std::uint8_t> with_alpha;
  if (found.has_alpha) with_alpha.resize(image.data.size() / 3 * 4);
  std::vector<std::uint8_t>& out = found.has_alpha ? with_alpha : image.data;
  config.output.colorspace = found.has_alpha ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {out.data(),
                          static_cast<int>(out.size() / static_cast<std::size_t>(found.height)),
                          out.size()};
  const VP8StatusCode status = WebPDecode(b.data(), b.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (status != VP8_STATUS_OK) fail_to_decode(request, status);
  for (std::size_t i = 0; i < with_alpha.size() / 4; ++i)
    for (std::size_t c = 0; c < 3; ++c)  // over black
      image.data[3 * i + c] =
          static_cast<std::uint8_t>((with_alpha[4 * i + c] * with_alpha[4 * i + 3] + 127) / 255);
  return image;
}

int orientation_of_webp(std::span<const std::byte> bytes) {
  const auto b = unsigned_bytes(bytes);
  for (std::size_t at = 12; at + 8 <= b.size();) {
    const std::size_t length = whole_number(b, at + 4, 4, false);
    if (length > b.size() - at - 8) break;
    if (std::memcmp(b.data() + at, "EXIF", 4) == 0)
      return orientation_of_exif(b.subspan(at + 8, length));
    at += 8 + length + length % 2;
  }
  return 1;
}

}  // namespace facebench
