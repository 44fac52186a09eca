#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "facebench/nn/internal/class_split.h"
#include "facebench/nn/internal/memory_cache.h"
#include "facebench/nn/internal/row_update_slot.h"
#include "facebench/nn/internal/true_class.h"

namespace facebench {

// The cross entropy of a classifier in one operation: image i's logit of class j is
//   scale_i <x_i, w_j> + b_j,
// w_j divided by its norm if unit_weights. The ClassLoss says what it makes of them: the target
// logit (that of the image's true class) is loss.target(cosine, scale, norms), others may count
// more, or for themselves instead of in a softmax.
struct ClassCrossEntropy {
  at::Tensor loss;  // scalar, mean over the images; backward() reaches rows, scale, weight, bias,
                    // norms
  at::Tensor
      logits;  // (N, C) without margin and gradient; a view of memory that is laid out (C, N)
  at::Tensor predicted;  // (N) int64, the highest of them, the first of equals
  // (N), without gradient: the target logit (of a unified threshold: without margin), and the
  // highest of the others.
  at::Tensor target, highest;
};

// What a head has for the passes over its classes.
struct TileMemory {
  c10::intrusive_ptr<MemoryCache> cache;  // of the logits and the gradient of the weight
  std::shared_ptr<RowUpdateSlot> slot;    // what the backward pass does with the latter
};

// Whether class_cross_entropy takes these: float32 on the CPU, densely stored.
bool has_class_cross_entropy(const at::Tensor& rows, const at::Tensor& weight);

// rows (N, D), scale (N, 1), weight (C centers, D), bias (C) or undefined, labels (N) int64 in
// [0, C), norms (N, 1) or undefined: what the target depends on besides, with a gradient of their
// own. See
// class_tiles.h for the arithmetic.
// `split` (may be null): weight and bias are this process's, labels its rows_of_images(); the loss
// is that of the classes of all processes, the gradients this process's part. Collective.
// Equals the same made of torch's operations to float32 rounding, or with bfloat16 to the rounding
// of the products' factors. Not differentiable twice (throws std::logic_error; float64 goes another
// way, and is).
ClassCrossEntropy class_cross_entropy(const at::Tensor& rows, const at::Tensor& scale,
                                      const at::Tensor& weight, const at::Tensor& bias,
                                      const at::Tensor& labels, const ClassLoss& loss,
                                      const at::Tensor& norms, bool unit_weights, bool bfloat16,
                                      const ClassSplit* split, const TileMemory& memory);

}  // namespace facebench
