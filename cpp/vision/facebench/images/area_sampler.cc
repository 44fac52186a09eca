#include "facebench/images/area_sampler.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "facebench/core/internal/kernel_choice.h"
#include "facebench/images/area_cell.h"
#include "facebench/images/internal/area_kernels.h"

namespace facebench {
namespace {

const AreaKernels& kernels_for(Isa isa) { return FACEBENCH_KERNELS(isa, kAreaKernels); }

// The pixels of cell i of n over a side of s pixels.
AreaCell whole_cell(std::int64_t i, std::int64_t s, std::int64_t n) {
  const auto first = static_cast<int>(i * s / n);
  const int count = static_cast<int>(((i + 1) * s + n - 1) / n) - first;
  const float share = 1 / static_cast<float>(count);
  return {first, count, share, share, share};
}

AreaCell cell_of(AreaRule rule, bool shrinks, int i, int s, int n) {
  if (rule == AreaRule::whole) return whole_cell(i, s, n);
  return shrinks ? covering_cell(i, s, n) : between_cell(i, s, n);
}

}  // namespace

AreaSampler::AreaSampler(const Image& image, AreaRule rule)
    : kernels_(&kernels_for(active_isa())), image_(&image), rule_(rule) {
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
  out_width_ = out_width;
  out_height_ = out_height;
  shift_ = shift;
  scale_ = scale;
  shrinks_ = shrinks(width_, height_, out_width, out_height);
  first_.resize(out_width);
  count_.resize(out_width);
  for (std::vector<float>* weights : {&low_, &middle_, &high_}) weights->resize(out_width);
  for (int i = 0; i < out_width; ++i) {
    const AreaCell cell = cell_of(rule_, shrinks_, i, width_, out_width);
    first_[i] = cell.first;
    count_[i] = cell.count;
    low_[i] = cell.low;
    middle_[i] = cell.middle;
    high_[i] = cell.high;
  }
  most_columns_ = *std::max_element(count_.begin(), count_.end());
  sums_.resize(3 * static_cast<std::size_t>(width_) + AreaKernels::slack);
}

AreaCell AreaSampler::row_cell(int j) const {
  return cell_of(rule_, shrinks_, j, height_, out_height_);
}

// The rows of a cell become one, as wide as the part.
void AreaSampler::sum_rows(const AreaCell& cell) {
  const int top = std::max(y0_ + cell.first, 0);
  const int bottom = std::min(y0_ + cell.first + cell.count, image_->height);
  const int left = std::clamp(-x0_, 0, width_);
  const int right = std::clamp(image_->width - x0_, left, width_);
  if (top >= bottom || left >= right) {
    std::fill(sums_.begin(), sums_.end(), 0.f);
    return;
  }
  const std::uint8_t* in = image_->row(top) + 3L * (x0_ + left);
  const std::uint8_t* end = image_->data.data() + image_->data.size();
  const auto stride = static_cast<long>(image_->stride());
  float* const out = sums_.data() + 3L * left;
  const int rows = bottom - top, values = 3 * (right - left);
  if (rule_ == AreaRule::whole) {
    kernels_->sum_rows(in, stride, rows, values, end, out);
  } else {
    // Rows outside of the image leave others at the ends.
    const int first = top - y0_ - cell.first, last = first + rows - 1;
    const auto weight = [&](int k) {
      return k == 0 ? cell.low : k == cell.count - 1 ? cell.high : cell.middle;
    };
    kernels_->weigh_rows(in, stride, rows, {weight(first), cell.middle, weight(last)}, values, end,
                         out);
  }
  std::fill_n(sums_.data(), 3L * left, 0.f);
  std::fill(sums_.data() + 3L * right, sums_.data() + 3L * width_, 0.f);
}

// Row j, not rounded yet.
void AreaSampler::row(int j, int step, float* out) {
  const AreaCell rows = row_cell(j);
  sum_rows(rows);
  const AreaKernels::Columns columns{first_.data(),  count_.data(), low_.data(),
                                     middle_.data(), high_.data(),  out_width_};
  if (rule_ == AreaRule::whole)
    kernels_->average(sums_.data(), columns, scale_ / static_cast<float>(rows.count),
                      -shift_ * scale_, step, out);
  else if (rule_ == AreaRule::covered)
    kernels_->weigh(sums_.data(), columns, scale_, -shift_ * scale_, step, out);
  else
    kernels_->weigh(sums_.data(), columns, 1, 0, step, out);
}

// Row j as four values a pixel in means_; nobody reads the fourth.
void AreaSampler::four(int j) {
  means_.resize(4L * out_width_ + AreaKernels::slack);
  row(j, 4, means_.data());
  if (rule_ != AreaRule::rounded) return;
  const AreaCell rows = row_cell(j);
  near_.resize(means_.size());
  // Each of a value's roundings, ours and OpenCV's, is off by at most 255 * 2^-24; what is that
  // close to half a byte is computed again as OpenCV does it.
  const float error = 2 * 255 * 6e-8f * static_cast<float>(rows.count + most_columns_ + 3);
  const int near =
      kernels_->round(means_.data(), 4 * out_width_, .5f - error, shift_, scale_, near_.data());
  const std::uint8_t* in = image_->row(y0_) + 3L * x0_;
  for (int k = 0; k < near; ++k) {
    const int i = near_[k] / 4, c = near_[k] % 4;
    if (c == 3 || i >= out_width_) continue;
    const AreaCell cell{first_[i], count_[i], low_[i], middle_[i], high_[i]};
    const int byte = area_byte(in + c, static_cast<long>(image_->stride()), width_, height_,
                               out_width_, out_height_, cell, rows);
    means_[near_[k]] = (static_cast<float>(byte) - shift_) * scale_;
  }
}

void AreaSampler::interleaved_row(int j, float* out) {
  if (rule_ != AreaRule::rounded) return row(j, 3, out);
  four(j);
  for (int i = 0; i < out_width_; ++i) std::copy_n(&means_[4L * i], 3, out + 3L * i);
}

void AreaSampler::planar_row(int j, float* out, std::ptrdiff_t stride) {
  four(j);
  kernels_->separate(means_.data(), out_width_, stride, out);
}

void AreaSampler::all(float* out) {
  for (int j = 0; j < out_height_; ++j, out += 3L * out_width_) interleaved_row(j, out);
}

}  // namespace facebench
