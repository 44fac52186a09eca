#pragma once

#include <array>
#include <cstdint>

#include "facebench/images/image.h"

namespace facebench {

// A map of points of one image to points of another: u = m[0] x + m[1] y + m[2],
// v = m[3] x + m[4] y + m[5]. Integer coordinates are pixel centres.
using Affine = std::array<double, 6>;

// The inverse map. Throws std::invalid_argument where there is none.
Affine invert_affine(const Affine& m);

// The image transformed by `m` into width x height pixels, bilinear. Pixels outside the source get
// the value `border` in every channel. OpenCV's warpAffine (positions in steps of 1/32 pixel), so
// equal to it. Throws std::invalid_argument for a map that cannot be inverted or is not finite,
// sides below 1 or sides of 32,767 and more.
Image warp_affine(const Image& image, const Affine& m, int width, int height,
                  std::uint8_t border = 0);

}  // namespace facebench
