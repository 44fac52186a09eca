#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace facebench {

struct MtcnnPyramid {
  double min_face, max_face, factor;
  bool power_scales, ceil_size;
};

struct MtcnnLevel {
  double scale;
  int width, height;
};

// The sizes at which P-Net looks at an image, the largest first: those that hold one of its
// windows.
inline std::vector<MtcnnLevel> mtcnn_levels(const MtcnnPyramid& pyramid, int width, int height) {
  constexpr int cell = 12;
  const auto side_at = [&](int side, double scale) {
    return static_cast<int>(pyramid.ceil_size ? std::ceil(side * scale) : side * scale + 1);
  };
  const double first = cell / pyramid.min_face;
  double side = std::min(width, height) * first;
  double product = first;
  std::vector<MtcnnLevel> levels;
  for (int i = 0; side >= cell; ++i) {
    const double scale = pyramid.power_scales ? first * std::pow(pyramid.factor, i) : product;
    product *= pyramid.factor;
    side *= pyramid.factor;
    if (pyramid.max_face != 0 && cell / scale > pyramid.max_face) continue;
    const MtcnnLevel level{scale, side_at(width, scale), side_at(height, scale)};
    if (level.width >= cell && level.height >= cell) levels.push_back(level);
  }
  return levels;
}

}  // namespace facebench
