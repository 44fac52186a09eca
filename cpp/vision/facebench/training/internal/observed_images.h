#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "facebench/nn/communicator.h"
#include "facebench/nn/head.h"
#include "facebench/training/observation.h"

namespace facebench {

// Gathers what an Observation says of the images of a step, which come in micro-batches.
class ObservedImages {
 public:
  // Of one micro-batch: features (N, D), and the main head's output while it observes.
  void add(const at::Tensor& features, const Head::Output& output);
  // Without gradient_norm. Collective.
  Observation summary(Communicator& communicator) const;

 private:
  std::vector<at::Tensor> parts_;  // (N, 4): norm, cosine, logit above all others, distance from
                                   // the first row (NaN: none)
};

}  // namespace facebench
