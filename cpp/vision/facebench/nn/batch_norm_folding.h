#pragma once

#include <string>
#include <vector>

#include "facebench/nn/graph.h"

namespace facebench {

// One batch norm that went into the layer before it. With s = scale / sqrt(variance + eps), for
// each output channel: weight' = s * weight, bias' = s * (bias - mean) + shift.
struct FoldedNorm {
  std::string layer;  // the convolution or linear layer
  std::string norm;   // the batch norm that is gone
  bool layer_had_bias = false;
  BatchNormOptions options;
};

struct FoldedGraph {
  Graph graph;
  std::vector<FoldedNorm> folds;
};

// The graph for inference: each batch norm whose input is a convolution or linear layer that
// nothing else reads is folded into it (which then has a bias), dropout is left out. Taps stay
// where they were; node names stay too. The tensors are transformed by fold_batch_norm(Network).
FoldedGraph fold_batch_norm(const Graph& graph);

}  // namespace facebench
