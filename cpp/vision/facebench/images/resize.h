#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/images/image.h"

namespace facebench {

// How values between pixels are made when an image is resized.
//   nearest   the pixel whose cell holds the point (floor(x * scale))
//   bilinear  two by two pixels at half-pixel positions, no antialiasing (OpenCV's INTER_LINEAR)
//   bicubic   four by four, a = -0.75, no antialiasing (OpenCV's INTER_CUBIC)
//   area      mean of the covered area when shrinking (OpenCV's INTER_AREA), bilinear when growing
//   bilinear_antialias  triangle as wide as the scale when shrinking, in float, rounded at the end
enum class Interpolation : std::uint8_t { nearest, bilinear, bicubic, area, bilinear_antialias };

struct InterpolationEntry {
  std::string name;
  std::string doc;
  Interpolation value;
};
const Table<InterpolationEntry>& interpolations();
// Throws std::invalid_argument with "did you mean".
Interpolation parse_interpolation(std::string_view name);

// The image at another size. Throws std::invalid_argument for a side below 1.
Image resize(const Image& image, int width, int height,
             Interpolation interpolation = Interpolation::bilinear);

// The version of the OpenCV in use, "4.6.0". Of resize(), bicubic alone depends on it: 5.0 rounds
// some values otherwise than 4.6.
std::string opencv_version();

// The part [x0, x1) x [y0, y1) of an image. Throws std::out_of_range where it is empty or not
// inside.
Image cut(const Image& image, int x0, int y0, int x1, int y1);

}  // namespace facebench
