#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "nn/class_split.h"

namespace facebench {

// The target logit from its cosine, the scale and the features' norms, all (N, 1); differentiable
// by autograd. The norms are undefined where none are given.
using TargetLogit = std::function<at::Tensor(const at::Tensor& cosine, const at::Tensor& scale,
                                             const at::Tensor& norms)>;

// The logits of the images' true classes, few enough for torch's operations. All (N, 1), without
// gradient.
struct TrueClass {
  // Cosine, and the slopes of the logit by it, by scale and (where given, else empty) by norms.
  at::Tensor cosine, by_cosine, by_scale, by_norms;
  at::Tensor logit, without_margin;
};

// As class_cross_entropy takes them; `bias` and `norms` may be empty. Where the classes are split
// it is collective, and gives every process the values of all images.
TrueClass true_class(const at::Tensor& rows, const at::Tensor& scale, const at::Tensor& weight,
                     const at::Tensor& bias, const at::Tensor& labels, const TargetLogit& margin,
                     const at::Tensor& norms, bool unit_weights, const ClassSplit* split);

}  // namespace facebench
