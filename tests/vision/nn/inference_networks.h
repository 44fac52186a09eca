#pragma once

#include "facebench/core/isa.h"
#include "facebench/nn/graph.h"
#include "facebench/nn/inference_network.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/network.h"

namespace facebench {

// What the tests of InferenceNetwork have in common.

inline at::Tensor waves(std::int64_t n, const Graph& g) {
  const Shape& s = g.input_shape();
  return at::sin(at::arange(n * element_count(s), at::kFloat)).reshape({n, s[0], s[1], s[2]});
}

// Statistics and slopes that are not those of a fresh network.
inline Network filled(const Graph& g) {
  Network net(g, "xavier_uniform", 3);
  for (const NamedTensor& t : net.tensors())
    if (t.tensor.dim() == 1) {
      at::Tensor values = t.tensor.detach();
      values.copy_(0.6 + 0.3 * at::sin(at::arange(values.numel(), at::kFloat)));
    }
  net.train(false);
  return net;
}

// What the layers read of the first of these images, for int8.
inline InputRanges seen_ranges(const Network& net, const at::Tensor& images) {
  return InferenceNetwork(net, 1).input_ranges(images.narrow(0, 0, 1))[0];
}

// The instruction set for all kernels while this lives.
struct WithIsa {
  explicit WithIsa(Isa isa) : before(active_isa()) { force_isa(isa); }
  ~WithIsa() { force_isa(before); }
  Isa before;
};

// Every kind of layer that kernels of inference have.
inline Graph small_network() {
  Graph g;
  Value x = g.input(3, 30, 28);
  x = g.prelu("p0", g.conv("c0", x, {.out = 32, .kernel = 3, .stride = 2, .padding = 1}));
  Value y = g.relu(g.conv("c1", x, {.out = 64}));
  y = g.relu(g.conv("c2", y, {.out = 64, .kernel = 3, .padding = 1, .groups = 64}));
  x = g.add(x, g.conv("c3", y, {.out = 32}));
  y = g.conv("c4", g.batch_norm("b", x), {.out = 48, .kernel = 3, .padding = 1});
  x = g.relu(g.conv("c5", x, {.out = 32, .kernel = {7, 1}, .padding = {3, 0}}));
  x = g.relu(g.conv("c6", x, {.out = 32, .kernel = {1, 3}, .padding = {0, 1}}));
  x = g.concat({y, g.conv("c7", x, {.out = 16, .kernel = 5, .padding = 2, .bias = true})});
  g.tap("embedding", g.linear("fc", g.flatten(g.max_pool(x, {})), {.out = 64}));
  return g;
}

}  // namespace facebench
