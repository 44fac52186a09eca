#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace facebench {

// The order of an image's channels. It is part of the image, so that it never has to be guessed.
enum class ColorOrder : std::uint8_t { rgb, bgr, gray };

// "rgb", "bgr", "gray".
std::string_view color_order_name(ColorOrder order);
// Throws std::invalid_argument with "did you mean".
ColorOrder parse_color_order(std::string_view name);

// 8-bit pixels in rows from top to bottom, colours interleaved, no padding. x points right, y down;
// the centre of the first pixel is at (0, 0) for warps and landmarks.
struct Image {
  int width = 0;
  int height = 0;
  ColorOrder order = ColorOrder::rgb;
  std::vector<std::uint8_t> data;  // height * width * channels()

  Image() = default;
  // Black. Throws std::invalid_argument unless both sides are at least 1 and the pixels number less
  // than 2^31 - 1.
  Image(int width, int height, ColorOrder order = ColorOrder::rgb);

  bool empty() const { return data.empty(); }
  int channels() const { return order == ColorOrder::gray ? 1 : 3; }
  std::size_t stride() const { return static_cast<std::size_t>(width) * channels(); }
  const std::uint8_t* row(int y) const { return data.data() + stride() * y; }
  std::uint8_t* row(int y) { return data.data() + stride() * y; }
  bool operator==(const Image&) const = default;
};

// Throws std::invalid_argument where `data` is not width * height * channels() bytes, or is empty.
void check_image(const Image& image);

// 65536 times the grey of a colour: ITU-R BT.601 luma in 16-bit fixed point. A channel is an
// integer, a double or a tensor of integers.
template <class Channel>
auto luma_sum(const Channel& r, const Channel& g, const Channel& b) {
  return 19595 * r + 38470 * g + 7471 * b;
}

// The same picture in another order. Grey is luma_sum / 65536, rounded; grey to colour repeats the
// value.
Image convert_color(const Image& image, ColorOrder order);
Image convert_color(Image&& image, ColorOrder order);

}  // namespace facebench
