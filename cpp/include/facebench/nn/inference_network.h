#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "facebench/nn/network.h"

namespace facebench {

class InferenceEngine;

// A network frozen for inference. On the CPU in float32 it runs as a plan made once for each tap:
// batch norms folded, weights in the order of reading, sums, activations and what follows in one
// pass, one block of memory for all values. What the plan does not cover runs as torch's
// operations, each convolution's weights reordered for oneDNN and the ReLU behind it computed
// inside it. Its numbers differ from Network::infer by rounding alone. Independent of the network
// it was made of.
class InferenceNetwork {
 public:
  // `batch` is the batch size that weights for oneDNN are laid out for; others run too.
  InferenceNetwork(const Network& network, std::int64_t batch);
  ~InferenceNetwork();
  InferenceNetwork(InferenceNetwork&&) noexcept;
  InferenceNetwork& operator=(InferenceNetwork&&) noexcept;

  const Graph& graph() const { return network_.graph(); }
  // Whether an image's numbers have the same bits in every batch and with any number of threads of
  // torch: where kernels of this library compute the tap, which is unless the graph has an
  // operation that they do not have (local response normalisation), on the CPU and in float32.
  bool any_batch(std::string_view tap = "embedding") const;
  // As Network::infer. Safe to call from several threads at once.
  at::Tensor infer(const at::Tensor& images, std::string_view tap = "embedding") const;

 private:
  struct PackedLayer;
  struct Engines;

  void pack(std::int64_t batch);
  const InferenceEngine* engine(int node) const;

  Network network_;
  std::unique_ptr<Engines> engines_;
  std::vector<std::unique_ptr<PackedLayer>> packed_;  // by node; null: run as it is
};

}  // namespace facebench
