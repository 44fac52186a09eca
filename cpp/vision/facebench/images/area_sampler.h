#pragma once

#include <cstddef>
#include <vector>

#include "facebench/images/image.h"

namespace facebench {

struct AreaCell;
struct AreaKernels;

// How the pixels under a cell count.
enum class AreaRule {
  // Cell i of n covers source pixels floor(i s / n) to ceil((i + 1) s / n), all alike, so that
  // cells
  // may share pixels: PyTorch's adaptive average pooling, also called interpolate(mode="area"). A
  // part that is sampled larger than it is repeats pixels.
  whole,
  // As far as the cell covers them: OpenCV's INTER_AREA of floating point. If a side is sampled
  // larger than it is, both are interpolated between two pixels.
  covered,
  // The same, rounded to 8 bits: OpenCV's INTER_AREA of bytes, to the bit. No side grows.
  rounded,
};

// Resizes parts of an image by taking means over rectangles of pixels. The result comes row by row,
// so that it need not be in memory as a whole.
//
// Sums of whole pixels are exact up to 2^24 (65,793 white pixels) and rounded to single precision
// beyond. Sets that fuse a * b + c agree to the bit; `plain` has other last bits, except of rounded
// values. One thread at a time.
class AreaSampler {
 public:
  // Takes rgb or bgr (three values a pixel) and keeps a reference. Throws std::invalid_argument for
  // another order.
  explicit AreaSampler(const Image& image, AreaRule rule = AreaRule::whole);

  // What the rows are made of: the part [x0, x1) x [y0, y1) at out_width x out_height; values come
  // as (mean - shift) * scale. Requires x0 < x1, y0 < y1, and sides of at least 1. Pixels outside
  // of the image are black. A rounded part lies within the image.
  void cover(int x0, int y0, int x1, int y1, int out_width, int out_height, float shift,
             float scale);
  // Row j as out[out_width][3].
  void interleaved_row(int j, float* out);
  // Row j as three planes that lie `stride` values apart.
  void planar_row(int j, float* out, std::ptrdiff_t stride);
  // All rows as out[out_height][out_width][3].
  void all(float* out);

 private:
  AreaCell row_cell(int j) const;
  void sum_rows(const AreaCell& rows);
  void row(int j, int step, float* out);
  void four(int j);

  const AreaKernels* kernels_;
  const Image* image_;
  AreaRule rule_;
  int x0_ = 0, y0_ = 0, width_ = 0, height_ = 0, out_width_ = 0, out_height_ = 0;
  int most_columns_ = 1;
  bool shrinks_ = true;
  float shift_ = 0, scale_ = 1;
  // The source pixels of each output column: the first, how many, and the weights of the first, of
  // those between and of the last.
  std::vector<int> first_, count_;
  std::vector<float> low_, middle_, high_;
  std::vector<float> sums_, means_;
  std::vector<int> near_;
};

}  // namespace facebench
