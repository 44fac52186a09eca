#include "facebench/training/internal/weight_average.h"

#include <ATen/core/grad_mode.h>

#include "facebench/nn/internal/aten.h"

namespace facebench {

WeightAverage::WeightAverage(std::span<const NamedTensor> parameters, double decay)
    : decay_(decay), parameters_(parameters.begin(), parameters.end()) {
  for (const NamedTensor& p : parameters_) averages_.push_back({p.name, p.tensor.detach().clone()});
}

void WeightAverage::update(std::int64_t iteration) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> averages, weights;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    averages.push_back(averages_[i].tensor);
    weights.push_back(parameters_[i].tensor);
  }
  at::_foreach_lerp_(averages, weights, iteration == 0 ? 1.0 : 1 - decay_);
}

}  // namespace facebench
