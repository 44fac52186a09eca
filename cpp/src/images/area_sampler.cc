#include "facebench/images/area_sampler.h"

#include <cstdint>
#include <stdexcept>

#include "facebench/core/isa.h"
#include "images/area_kernels.h"

namespace facebench {
namespace {

const AreaKernels& kernels_for(Isa isa) {
#if defined(__x86_64__)
  if (isa >= Isa::avx512) return kAreaKernelsAvx512;
  if (isa >= Isa::avx2) return kAreaKernelsAvx2;
#endif
  (void)isa;
  return kAreaKernelsPlain;
}

// The pixels of cell i of n over a side of s pixels.
struct Cell {
  int first, count;
  Cell(std::int64_t i, std::int64_t s, std::int64_t n)
      : first(static_cast<int>(i * s / n)),
        count(static_cast<int>(((i + 1) * s + n - 1) / n) - first) {}
};

}  // namespace

AreaSampler::AreaSampler(const Image& image)
    : kernels_(&kernels_for(active_isa())), image_(&image) {
  check_image(image);
  if (image.order == ColorOrder::gray)
    throw std::invalid_argument("the area sampler takes colour images");
}

void AreaSampler::cover(int x0, int y0, int x1, int y1, int out_width, int out_height, float shift,
                        float scale) {
  x0_ = x0;
  y0_ = y0;
  width_ = x1 - x0;
  height_ = y1 - y0;
  out_height_ = out_height;
  shift_ = shift;
  scale_ = scale;
  first_.resize(out_width);
  count_.resize(out_width);
  inverse_.resize(out_width);
  for (int i = 0; i < out_width; ++i) {
    const Cell cell(i, width_, out_width);
    first_[i] = cell.first;
    count_[i] = cell.count;
    inverse_[i] = 1 / static_cast<float>(cell.count);
  }
  sums_.resize(3 * static_cast<std::size_t>(width_) + AreaKernels::slack);
}

void AreaSampler::row(int j, int step, float* out) {
  const Cell rows(j, height_, out_height_);
  const std::uint8_t* top = image_->row(y0_ + rows.first) + 3 * static_cast<std::size_t>(x0_);
  kernels_->sum_rows(top, static_cast<long>(image_->stride()), rows.count, 3 * width_,
                     image_->data.data() + image_->data.size(), sums_.data());
  const AreaKernels::Columns columns{first_.data(), count_.data(), inverse_.data(),
                                     static_cast<int>(first_.size())};
  kernels_->average(sums_.data(), columns, scale_ / static_cast<float>(rows.count),
                    -shift_ * scale_, step, out);
}

void AreaSampler::interleaved_row(int j, float* out) { row(j, 3, out); }

void AreaSampler::planar_row(int j, float* out, std::ptrdiff_t stride) {
  means_.resize(4 * first_.size());
  row(j, 4, means_.data());
  kernels_->separate(means_.data(), static_cast<int>(first_.size()), stride, out);
}

void AreaSampler::all(float* out) {
  for (int j = 0; j < out_height_; ++j, out += 3 * first_.size()) interleaved_row(j, out);
}

}  // namespace facebench
