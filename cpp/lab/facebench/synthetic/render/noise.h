#pragma once

#include <cstdint>

#include "facebench/synthetic/render/math.h"

namespace facebench::synthetic {

inline constexpr int kNoiseSide = 128;
// A fixed lattice of uniform values in [-127, 127], repeating every 128 cells.
const std::int8_t* noise_lattice();

// Smooth value noise in [-1, 1] over the plane, one feature per unit. Fields of different seeds
// look at different places of one lattice, so a field costs no memory.
class NoiseField {
 public:
  NoiseField() = default;
  explicit NoiseField(std::uint32_t seed);

  float operator()(float x, float y) const {
    const int ix = floor_int(x), iy = floor_int(y);
    float fx = x - static_cast<float>(ix), fy = y - static_cast<float>(iy);
    fx = fx * fx * (3 - 2 * fx);
    fy = fy * fy * (3 - 2 * fy);
    constexpr int mask = kNoiseSide - 1;
    const std::int8_t* row0 = lattice_ + ((iy + offset_y_) & mask) * kNoiseSide;
    const std::int8_t* row1 = lattice_ + ((iy + 1 + offset_y_) & mask) * kNoiseSide;
    const int x0 = (ix + offset_x_) & mask, x1 = (ix + 1 + offset_x_) & mask;
    const float top = mix(row0[x0], row0[x1], fx), bottom = mix(row1[x0], row1[x1], fx);
    return mix(top, bottom, fy) * (1.f / 127);
  }

 private:
  static int floor_int(float x) {
    const int i = static_cast<int>(x);
    return i - (x < static_cast<float>(i));
  }

  const std::int8_t* lattice_ = noise_lattice();
  int offset_x_ = 0, offset_y_ = 0;
};

}  // namespace facebench::synthetic
