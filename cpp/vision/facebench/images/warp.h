#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "facebench/core/registry.h"
#include "facebench/images/image.h"

namespace facebench {

// A map of points of one image to points of another: u = m[0] x + m[1] y + m[2],
// v = m[3] x + m[4] y + m[5]. Integer coordinates are pixel centres.
using Affine = std::array<double, 6>;

// The inverse map. Throws std::invalid_argument where there is none.
Affine invert_affine(const Affine& m);

// How a warp rounds the positions between pixels.
enum class WarpRule { opencv4, exact };
struct WarpRuleEntry {
  std::string name;
  std::string doc;
  WarpRule value;
};
const Table<WarpRuleEntry>& warp_rules();
// Throws std::invalid_argument with "did you mean".
WarpRule parse_warp_rule(std::string_view name);

// The image transformed by `m` into width x height pixels, bilinear. Pixels outside the source get
// the value `border` in every channel. Whole numbers alone decide the pixels, so each rule gives
// the same bytes on every processor and with every OpenCV:
//   opencv4  positions in steps of 1/32 pixel: the bytes of OpenCV 4's warpAffine with INTER_LINEAR
//            and BORDER_CONSTANT on x86-64 (modules/imgproc/src/imgwarp.cpp, 4.6)
//   exact    positions in steps of 1/65,536 pixel: within half a level of exact bilinear, and .01
// Throws std::invalid_argument for a map that cannot be inverted or is not finite, and sides
// below 1.
Image warp_affine(const Image& image, const Affine& m, int width, int height,
                  std::uint8_t border = 0, WarpRule rule = WarpRule::opencv4);

}  // namespace facebench
