#pragma once

#include <cstddef>
#include <vector>

#include "facebench/images/image.h"

namespace facebench {

struct AreaKernels;

// Resizes parts of an image by taking means over rectangles of whole pixels. The result comes row
// by row, so that it need not be in memory as a whole. Cell i of n covers source pixels floor(i s /
// n) to ceil((i + 1) s / n), so that cells may share pixels: PyTorch's adaptive average pooling,
// also called interpolate(mode="area"). A part that is sampled larger than it is repeats pixels.
//
// Sums are exact up to 2^24 (65,793 white pixels) and rounded to single precision beyond. The
// instruction set decides the last bit. One thread at a time.
class AreaSampler {
 public:
  // Takes rgb or bgr (three values a pixel) and keeps a reference. Throws std::invalid_argument for
  // another order.
  explicit AreaSampler(const Image& image);

  // What the rows are made of: the part [x0, x1) x [y0, y1) at out_width x out_height; values come
  // as (mean - shift) * scale. Requires 0 <= x0 < x1 <= width, the same for y, and sides of at
  // least 1.
  void cover(int x0, int y0, int x1, int y1, int out_width, int out_height, float shift,
             float scale);
  // Row j as out[out_width][3].
  void interleaved_row(int j, float* out);
  // Row j as three planes that lie `stride` values apart.
  void planar_row(int j, float* out, std::ptrdiff_t stride);
  // All rows as out[out_height][out_width][3].
  void all(float* out);

 private:
  void row(int j, int step, float* out);

  const AreaKernels* kernels_;
  const Image* image_;
  int x0_ = 0, y0_ = 0, width_ = 0, height_ = 0, out_height_ = 0;
  float shift_ = 0, scale_ = 1;
  // The source pixels of each output column: the first, how many, and 1 / how many.
  std::vector<int> first_, count_;
  std::vector<float> inverse_;
  std::vector<float> sums_, means_;
};

}  // namespace facebench
