#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/nn/head.h"

namespace facebench {

// Some numbers of each weight as they are at one moment, spread evenly, to tell how far a training
// moves them without a copy of all.
class WeightSample {
 public:
  // `weights` are shared.
  explicit WeightSample(std::span<const PartialTensor> weights);
  // The Euclidean distance of all weights from what they were, over their length then; of weights
  // that were all 0 infinity where they moved.
  double moved() const;

 private:
  struct Part {
    at::Tensor weight;
    std::int64_t step = 1;  // every step-th number
    at::Tensor before;      // float64 on the CPU
  };
  static at::Tensor numbers(const at::Tensor& weight, std::int64_t step);
  std::vector<Part> parts_;
};

}  // namespace facebench
