#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "facebench/nn/network.h"

namespace facebench {

// A network frozen for inference: batch norms folded, NHWC, and on the CPU in float32 each
// convolution's weights reordered once for oneDNN and the ReLU behind it computed inside it. Its
// numbers differ from Network::infer by rounding alone. Independent of the network it was made of.
class InferenceNetwork {
 public:
  // `batch` is the batch size that the weights are laid out for; others run too.
  InferenceNetwork(const Network& network, std::int64_t batch);
  ~InferenceNetwork();
  InferenceNetwork(InferenceNetwork&&) noexcept;
  InferenceNetwork& operator=(InferenceNetwork&&) noexcept;

  const Graph& graph() const { return network_.graph(); }
  // As Network::infer. Safe to call from several threads at once.
  at::Tensor infer(const at::Tensor& images, std::string_view tap = "embedding") const;

 private:
  struct PackedLayer;

  void pack(std::int64_t batch);

  Network network_;
  std::vector<std::unique_ptr<PackedLayer>> packed_;  // by node; null: run as it is
};

}  // namespace facebench
