#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "facebench/core/random.h"
#include "facebench/core/registry.h"

namespace facebench {

// One change of an image's colours. Of values in [0, 1]:
//   brightness  all plus `amount`
//   contrast    each channel's distance from its mean times `amount`
//   saturation  HSV: saturation times `amount`, held in [0, 1]
//   hue         HSV: hue plus `amount` turns
enum class ColorOp : std::uint8_t { none, brightness, contrast, saturation, hue };

std::string_view color_op_name(ColorOp op);

struct ColorStep {
  ColorOp op = ColorOp::none;
  double amount = 0;
  bool operator==(const ColorStep&) const = default;
};

// Done one after the other; the end is held in [0, 1].
using ColorDistortion = std::array<ColorStep, 4>;

struct ColorDistortionEntry {
  std::string name;
  std::string doc;
  ColorDistortion (*draw)(Random& random);
};

// none; inception: brightness within +-32/255, saturation and contrast by 0.5 to 1.5, hue within
// +-0.2, in one of four orders. Source: TensorFlow slim's inception_preprocessing, not its fast
// mode (Wang & Guo 2019, table 11: "randomly distort the colors").
const Table<ColorDistortionEntry>& color_distortions();

// In place, RGB interleaved, values 0..255.
void distort_colors(std::span<float> rgb, const ColorDistortion& distortion);

}  // namespace facebench
