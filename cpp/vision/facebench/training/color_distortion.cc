#include "facebench/training/color_distortion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace facebench {
namespace {

// One pixel's hue in turns, saturation and value, and back. Values below zero and above one, which
// an earlier step may have made, pass through.
struct Hsv {
  float hue, saturation, value;
};

Hsv hsv_of(const float* rgb) {
  const float high = std::max({rgb[0], rgb[1], rgb[2]}), low = std::min({rgb[0], rgb[1], rgb[2]});
  const float range = high - low;
  if (range <= 0) return {0, 0, high};
  float hue;
  if (rgb[0] == high)
    hue = (rgb[1] - rgb[2]) / range;
  else if (rgb[1] == high)
    hue = 2 + (rgb[2] - rgb[0]) / range;
  else
    hue = 4 + (rgb[0] - rgb[1]) / range;
  hue /= 6;
  return {hue < 0 ? hue + 1 : hue, high > 0 ? range / high : 0, high};
}

void write_rgb(const Hsv& hsv, float* rgb) {
  const float chroma = hsv.saturation * hsv.value, low = hsv.value - chroma;
  for (int c = 0; c < 3; ++c) {
    // Red rises and falls around 0, green around 1/3, blue around 2/3 of a turn.
    float distance = std::abs(hsv.hue - static_cast<float>(c) / 3);
    distance = std::min(distance, 1 - distance);
    rgb[c] = low + chroma * std::clamp(2 - 6 * distance, 0.0F, 1.0F);
  }
}

void apply(std::span<float> rgb, const ColorStep& step) {
  const auto amount = static_cast<float>(step.amount);
  switch (step.op) {
    case ColorOp::none:
      return;
    case ColorOp::brightness:
      for (float& v : rgb) v += amount;
      return;
    case ColorOp::contrast: {
      double sums[3] = {};
      for (std::size_t i = 0; i < rgb.size(); ++i) sums[i % 3] += rgb[i];
      float means[3];
      for (int c = 0; c < 3; ++c)
        means[c] = static_cast<float>(sums[c] * 3 / static_cast<double>(rgb.size()));
      for (std::size_t i = 0; i < rgb.size(); ++i)
        rgb[i] = (rgb[i] - means[i % 3]) * amount + means[i % 3];
      return;
    }
    case ColorOp::saturation:
    case ColorOp::hue:
      for (std::size_t i = 0; i < rgb.size(); i += 3) {
        Hsv hsv = hsv_of(&rgb[i]);
        if (step.op == ColorOp::saturation)
          hsv.saturation = std::clamp(hsv.saturation * amount, 0.0F, 1.0F);
        else
          hsv.hue = hsv.hue + amount - std::floor(hsv.hue + amount);
        write_rgb(hsv, &rgb[i]);
      }
      return;
  }
}

ColorDistortion no_distortion(Random&) { return {}; }

ColorDistortion draw_inception(Random& random) {
  const ColorStep brightness{ColorOp::brightness, random.uniform(-32.0 / 255, 32.0 / 255)};
  const ColorStep saturation{ColorOp::saturation, random.uniform(0.5, 1.5)};
  const ColorStep hue{ColorOp::hue, random.uniform(-0.2, 0.2)};
  const ColorStep contrast{ColorOp::contrast, random.uniform(0.5, 1.5)};
  const ColorDistortion orders[] = {{brightness, saturation, hue, contrast},
                                    {saturation, brightness, contrast, hue},
                                    {contrast, hue, brightness, saturation},
                                    {hue, saturation, contrast, brightness}};
  return orders[random.below(4)];
}

}  // namespace

std::string_view color_op_name(ColorOp op) {
  static constexpr std::string_view names[] = {"none", "brightness", "contrast", "saturation",
                                               "hue"};
  return names[static_cast<std::size_t>(op)];
}

const Table<ColorDistortionEntry>& color_distortions() {
  static const Table<ColorDistortionEntry> table(
      "colour distortion",
      {
          {"none", "colours as they are", no_distortion},
          {"inception",
           "brightness, saturation, hue and contrast in one of four orders, as slim's "
           "inception_preprocessing",
           draw_inception},
      });
  return table;
}

void distort_colors(std::span<float> rgb, const ColorDistortion& distortion) {
  for (float& v : rgb) v /= 255;
  for (const ColorStep& step : distortion) apply(rgb, step);
  for (float& v : rgb) v = 255 * std::clamp(v, 0.0F, 1.0F);
}

}  // namespace facebench
