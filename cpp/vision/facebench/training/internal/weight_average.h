#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/nn/network.h"

namespace facebench {

// The exponential moving average of a network's parameters: a copy after the first step, then
//   average = decay average + (1 - decay) weight
// after each, as torch.optim.swa_utils.AveragedModel does it. Batch norm's running statistics are
// averages already and are not averaged again.
class WeightAverage {
 public:
  // `parameters` are shared; decay in (0, 1).
  WeightAverage(std::span<const NamedTensor> parameters, double decay);
  // After step `iteration` (the first is 0).
  void update(std::int64_t iteration);
  // Shared, under the parameters' names.
  const std::vector<NamedTensor>& tensors() const { return averages_; }

 private:
  double decay_;
  std::vector<NamedTensor> parameters_, averages_;
};

}  // namespace facebench
