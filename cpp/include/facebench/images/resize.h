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
std::string_view interpolation_name(Interpolation value);

// The image at another size. Throws std::invalid_argument for a side below 1.
Image resize(const Image& image, int width, int height,
             Interpolation interpolation = Interpolation::bilinear);

// The part [x0, x1) x [y0, y1) of an image. Throws std::out_of_range where it is empty or not
// inside.
Image cut(const Image& image, int x0, int y0, int x1, int y1);

// The image mirrored left to right.
Image flip_horizontal(const Image& image);

// Means over rectangles of whole pixels in constant time each, exact while a rectangle has less
// than 2^24 pixels. Output cell i of n covers source pixels floor(i s / n) to ceil((i + 1) s / n),
// so that cells may share pixels: PyTorch's adaptive average pooling, also called
// interpolate(mode="area").
class AreaSampler {
 public:
  // Takes rgb or bgr (three values a pixel). Throws std::invalid_argument for another order.
  explicit AreaSampler(const Image& image);

  int width() const { return width_; }
  int height() const { return height_; }
  // The part [x0, x1) x [y0, y1) at out_width x out_height, as float, (value - shift) * scale,
  // written to out[out_height][out_width][3]. The mean is sum / rows / columns in single precision,
  // in that order. Requires 0 <= x0 < x1 <= width(), and the same for y.
  void sample(int x0, int y0, int x1, int y1, int out_width, int out_height, float shift,
              float scale, float* out) const;

 private:
  int width_, height_;
  // Sums over [0, x) x [0, y), modulo 2^32, three values a cell, (height + 1) x (width + 1) cells.
  std::vector<std::uint32_t> sums_;
};

}  // namespace facebench
