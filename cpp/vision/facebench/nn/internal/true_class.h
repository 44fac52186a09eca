#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "facebench/nn/internal/class_split.h"

namespace facebench {

// The target logit from its cosine, the scale and the features' norms, all (N, 1); differentiable
// by autograd. The norms are undefined where none are given.
using TargetLogit = std::function<at::Tensor(const at::Tensor& cosine, const at::Tensor& scale,
                                             const at::Tensor& norms)>;

// Which logits z of an image's other classes count more, as z (linear + square z): those above
// bound (N, 1). Without gradient.
struct HardNegatives {
  at::Tensor bound;
  double linear = 1, square = 0;
};

// Instead of a softmax: the target, which is a term of the loss then, and weight times the sum over
// the other classes of log(1 + exp(x)), where x = z - b is held in [-limit, limit]. b is what the
// target takes as norms.
struct UnifiedThreshold {
  double weight = 1, limit = 0;
};

// What a loss makes of an image's logits, which are scale times cosine.
struct ClassLoss {
  TargetLogit target;  // empty: logits of a linear classifier, as they are
  // Of the true classes' cosines (N, 1); may be empty. Called once for each loss.
  std::function<HardNegatives(const at::Tensor& cosine, const at::Tensor& scale)> hard = {};
  std::optional<UnifiedThreshold> threshold = {};
  std::int64_t centers = 1;  // rows of the weight for each class, of which the nearest counts
};

// The logits of the images' true classes, few enough for torch's operations. All (N, 1), without
// gradient.
struct TrueClass {
  // Cosine, and the slopes of the logit by it, by scale and (where given, else empty) by norms.
  at::Tensor cosine, by_cosine, by_scale, by_norms;
  at::Tensor logit, without_margin;
  HardNegatives hard;  // where the loss has such
};

// As class_cross_entropy takes them; `bias` and `norms` may be empty. Where the classes are split
// it is collective, and gives every process the values of all images.
TrueClass true_class(const at::Tensor& rows, const at::Tensor& scale, const at::Tensor& weight,
                     const at::Tensor& bias, const at::Tensor& labels, const ClassLoss& loss,
                     const at::Tensor& norms, bool unit_weights, const ClassSplit* split);

// Of values (N, classes centers) the highest of each class's: (N, classes). Differentiable.
at::Tensor nearest_centers(const at::Tensor& values, std::int64_t centers);

// The cosines (N, 1) of unit rows (N, D) and the nearest of the unit centres (N, k, D) of each.
// Differentiable.
at::Tensor nearest_cosines(const at::Tensor& rows, const at::Tensor& centers);

// What the logits (N, classes) of other classes count as: those of a softmax, or a threshold's
// terms without their weight. `hard` and `norms` where the loss has such. Differentiable.
at::Tensor terms_of_others(const at::Tensor& logits, const ClassLoss& loss,
                           const HardNegatives& hard, const at::Tensor& norms);

}  // namespace facebench
