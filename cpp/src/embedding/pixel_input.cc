#include "facebench/embedding/pixel_input.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "facebench/images/image.h"

namespace facebench {
namespace {

double of_channel(const std::vector<double>& values, std::size_t c) {
  return values[values.size() == 1 ? 0 : c];
}

}  // namespace

PixelInput::PixelInput(std::string_view color, const std::vector<double>& mean,
                       const std::vector<double>& std) {
  const ColorOrder order = parse_color_order(color);
  gray_ = order == ColorOrder::gray;
  if (order == ColorOrder::bgr) from_ = {2, 1, 0};
  const auto count = static_cast<std::size_t>(channels());
  for (const std::vector<double>* list : {&mean, &std})
    if (list->size() != 1 && list->size() != count)
      throw std::invalid_argument("mean and std need one number, or one for each channel");
  for (std::size_t c = 0; c < count; ++c) {
    mean_[c] = of_channel(mean, c);
    std_[c] = of_channel(std, c);
    for (std::size_t v = 0; v < 256; ++v)
      table_[c][v] = static_cast<float>((static_cast<double>(v) - mean_[c]) / std_[c]);
  }
}

// Grey in 16-bit fixed point, as convert_color.
float PixelInput::channel(const std::uint8_t* rgb, int c) const {
  const auto i = static_cast<std::size_t>(c);
  if (gray_) return table_[0][(19595U * rgb[0] + 38470U * rgb[1] + 7471U * rgb[2] + 32768U) >> 16];
  return table_[i][rgb[from_[i]]];
}

float PixelInput::channel(const float* rgb, int c) const {
  const auto i = static_cast<std::size_t>(c);
  const double value =
      gray_ ? (19595.0 * rgb[0] + 38470.0 * rgb[1] + 7471.0 * rgb[2]) / 65536 : rgb[from_[i]];
  return static_cast<float>((value - mean_[i]) / std_[i]);
}

template <class Value>
void PixelInput::write_values(const Value* rgb, const ImageShape& shape, const Placement& placement,
                              bool interleaved, float* out) const {
  const int height = shape.height, width = shape.width, count = channels();
  const std::int64_t plane = std::int64_t{height} * width;
  for (int y = 0; y < height; ++y) {
    const int from_y = std::clamp(y - placement.dy, 0, height - 1);
    const Value* row = rgb + std::int64_t{3} * from_y * width;
    for (int x = 0; x < width; ++x) {
      int from_x = std::clamp(x - placement.dx, 0, width - 1);
      if (placement.mirror) from_x = width - 1 - from_x;
      const std::int64_t at = std::int64_t{y} * width + x;
      for (int c = 0; c < count; ++c)
        out[interleaved ? count * at + c : c * plane + at] = channel(row + 3 * from_x, c);
    }
  }
}

void PixelInput::write(const std::uint8_t* rgb, const ImageShape& shape, const Placement& placement,
                       bool interleaved, float* out) const {
  write_values(rgb, shape, placement, interleaved, out);
}

void PixelInput::write(const float* rgb, const ImageShape& shape, const Placement& placement,
                       bool interleaved, float* out) const {
  write_values(rgb, shape, placement, interleaved, out);
}

}  // namespace facebench
