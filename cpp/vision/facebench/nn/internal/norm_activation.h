#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "facebench/nn/graph.h"

namespace facebench {

// Batch norm in training mode with the addition and the activation that follow it, as one operation
// forward and one backward: each value is read twice and written once, in place of six and eight
// passes over memory.

// Nodes that run as one; -1 where there is none. `last` is the node whose value comes out.
struct NormChain {
  int norm = -1, add = -1, activation = -1;
  int residual = -1;  // the node that is added
  int first() const { return norm >= 0 ? norm : activation; }
  int last() const { return activation >= 0 ? activation : add >= 0 ? add : norm; }
  std::vector<int> nodes() const {  // those that are there, in order
    std::vector<int> result;
    for (const int node : {norm, add, activation})
      if (node >= 0) result.push_back(node);
    return result;
  }
};

// For each node the chain that ends there, without nodes where none does. Values inside a chain
// have no other reader. A PReLU without batch norm before it is a chain of its own.
std::vector<NormChain> norm_chains(const Graph& graph);

// Whether the operations below take x: float32 or bfloat16 on the CPU, (N, C, H, W) stored NHWC or
// (N, C), C a multiple of 16 (of 32 for max-feature-map).
bool has_norm_activation(const at::Tensor& x, std::int64_t channels_multiple = 16);

// act(batch_norm(x) + residual), of x's type; every part may be left out.
struct NormActivation {
  // Batch norm where `mean` is defined: one value for each channel, float32. The running mean and
  // variance are updated in place; scale and shift are undefined where they are not learned.
  at::Tensor scale, shift, mean, variance;
  BatchNormOptions options;
  at::Tensor residual;  // like x; not together with a slope
  bool relu = false;
  at::Tensor slope;  // of a PReLU, (C) or (1)
};

// Gradients reach x, residual, scale, shift and slope. With x float32 equal to torch's operations
// to rounding; with bfloat16 what lies between the operations is not rounded, so the value is
// nearer to the true one. Not differentiable twice (throws std::logic_error).
at::Tensor norm_activation(const at::Tensor& x, const NormActivation& what);

// Max-feature-map (nn/graph.h), in one pass each way; equals share the gradient.
at::Tensor maxout(const at::Tensor& x);

}  // namespace facebench
