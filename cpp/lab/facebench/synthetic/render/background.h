#pragma once

#include <cstdint>
#include <vector>

#include "facebench/synthetic/render/math.h"

namespace facebench::synthetic {

// A room out of focus: a gradient, clouds of noise, up to 13 flat shapes. size * size colours in
// rows, linear light.
std::vector<Vec3> make_background(int size, std::uint32_t seed);

}  // namespace facebench::synthetic
