#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/nn/inference_precision.h"
#include "facebench/nn/network.h"

namespace facebench {

class InferenceEngine;

// One pass over a value: a layer, with those that are computed along with it.
struct InferenceStep {
  std::string layers;  // the first, and the last where there are several: "conv1 to relu1"
  std::string method;  // "direct", "Winograd 4x4 of 3x3", "depthwise", ...
  Shape output;
  std::int64_t macs = 0;   // multiply-adds of an image, as count_macs() counts them
  std::int64_t bytes = 0;  // weights, and an image's inputs and outputs
  double seconds = 0;      // of all images together
};

// A network frozen for inference. On the CPU in float32 it runs as a plan made once for each tap:
// batch norms folded, weights in the order of reading, sums, activations and what follows in one
// pass, one block of memory for all values. What the plan does not cover runs as torch's
// operations, each convolution's weights reordered for oneDNN and the ReLU behind it computed
// inside it. Its numbers differ from Network::infer by rounding alone. Independent of the network
// it was made of.
class InferenceNetwork {
 public:
  // `batch` is the batch size that weights for oneDNN are laid out for at once; for others, and
  // other numbers of threads, they are when these first come (the last two are kept). Throws
  // std::invalid_argument where a precision other than float32 is asked of a network that is not on
  // the CPU in float32, or has an operation that the plan does not cover, and where int8 has no
  // range for a layer.
  InferenceNetwork(const Network& network, std::int64_t batch,
                   InferencePrecision precision = InferencePrecision::float32,
                   InputRanges ranges = {});
  ~InferenceNetwork();
  InferenceNetwork(InferenceNetwork&&) noexcept;
  InferenceNetwork& operator=(InferenceNetwork&&) noexcept;

  const Graph& graph() const { return network_.graph(); }
  // Whether an image's numbers have the same bits in every batch and with any number of threads of
  // torch: where kernels of this library compute the tap, which is unless the graph has an
  // operation that they do not have (local response normalisation), on the CPU and in float32.
  // Throws as the constructor where the tap cannot be computed in the precision.
  bool any_batch(std::string_view tap = "embedding") const;
  // For each image what the convolutions and linear layers that the tap needs read of it, computed
  // by torch in float32.
  std::vector<InputRanges> input_ranges(const at::Tensor& images,
                                        std::string_view tap = "embedding") const;
  // As Network::infer. Safe to call from several threads at once.
  at::Tensor infer(const at::Tensor& images, std::string_view tap = "embedding") const;
  // What each step of infer() takes, in the order in which they run: the median of `rounds` runs.
  // Throws std::invalid_argument where torch computes the tap (any_batch() is false), and for no
  // rounds.
  std::vector<InferenceStep> time_steps(const at::Tensor& images, int rounds = 9,
                                        std::string_view tap = "embedding") const;

 private:
  struct PackedLayer;
  using PackedLayers = std::vector<std::unique_ptr<PackedLayer>>;  // by node; null: run as it is
  struct Prepared;

  bool on_cpu_in_float32() const;
  PackedLayers pack(std::int64_t batch) const;
  std::shared_ptr<const PackedLayers> packed(std::int64_t batch) const;
  [[noreturn]] void refuse_precision(std::string_view why) const;
  const InferenceEngine* engine(int node) const;

  Network network_;
  InferencePrecision precision_;
  InputRanges ranges_;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace facebench
