#pragma once

#include "facebench/nn/internal/class_cross_entropy.h"

namespace facebench {

// class_cross_entropy of split classes, made of torch's operations: for float64 and other devices.
// Arguments as there; logits are (N, classes that this process computes with). Differentiable once.
ClassCrossEntropy split_cross_entropy(const at::Tensor& rows, const at::Tensor& scale,
                                      const at::Tensor& weight, const at::Tensor& bias,
                                      const ClassLoss& loss, const at::Tensor& norms,
                                      bool unit_weights, const ClassSplit& split);

}  // namespace facebench
