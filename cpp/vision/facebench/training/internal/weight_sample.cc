#include "facebench/training/internal/weight_sample.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "facebench/nn/internal/aten.h"

namespace facebench {

at::Tensor WeightSample::numbers(const at::Tensor& weight, std::int64_t step) {
  const at::Tensor values = weight.detach();
  // In the order of memory, so that a large weight is not copied.
  const at::Tensor flat = values.is_non_overlapping_and_dense()
                              ? values.as_strided({values.numel()}, {1})
                              : values.flatten();
  return flat.slice(0, 0, flat.numel(), step).to(at::kCPU, at::kDouble, false, /*copy=*/true);
}

WeightSample::WeightSample(std::span<const PartialTensor> weights) {
  constexpr std::int64_t of_each = 4096;
  const at::NoGradGuard no_grad;
  for (const PartialTensor& w : weights) {
    const std::int64_t step = std::max<std::int64_t>(1, w.tensor.numel() / of_each);
    parts_.push_back({w.tensor, step, numbers(w.tensor, step)});
  }
}

double WeightSample::moved() const {
  const at::NoGradGuard no_grad;
  double moved = 0, size = 0;
  for (const Part& p : parts_) {
    const auto stands_for = static_cast<double>(p.step);
    moved += stands_for * (numbers(p.weight, p.step) - p.before).square().sum().item<double>();
    size += stands_for * p.before.square().sum().item<double>();
  }
  return moved == 0 ? 0 : std::sqrt(moved / size);
}

}  // namespace facebench
