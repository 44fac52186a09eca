#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/nn/graph.h"

namespace facebench {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

// Throws Error where `given` (names and shapes of tensors at hand) is not exactly what the graph
// has. The message begins with `where`, as a file, and names the first tensor that is missing, not
// expected or of another shape, what was expected and what was found.
void check_tensors(const Graph& graph, std::span<const std::pair<std::string, Shape>> given,
                   std::string_view where);

// A graph with its tensors, run by torch. Parameters are leaves that require gradients, so that
// autograd and any optimizer work on them. to() keeps each tensor object, so that an optimizer that
// refers to it continues to work. Movable, not copyable; clone() copies the numbers.
//
// With the same inputs, tensors, torch, instruction set and number of intra-op threads, forward()
// and its backward give the same bits on the CPU.
class Network {
 public:
  // float32 on the CPU, filled by the named initialiser (nn/initializers.h), in training mode.
  explicit Network(Graph graph, std::string_view initializer = "torch", std::uint64_t seed = 0);
  // The same with given values. What load() refuses is refused here before anything is allocated.
  Network(Graph graph, std::span<const NamedTensor> tensors, std::string_view where);
  Network(Network&&) = default;
  Network& operator=(Network&&) = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network clone() const;

  const Graph& graph() const { return graph_; }
  // In the order of the graph's nodes; names as in graph().tensors().
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  const std::vector<NamedTensor>& buffers() const { return buffers_; }
  // Parameters and buffers together, in the graph's order: what is stored.
  std::vector<NamedTensor> tensors() const;
  // Throws std::invalid_argument with "did you mean".
  at::Tensor tensor(std::string_view name) const;

  // Copies numbers in (converted to the tensors' type and device). Throws as check_tensors does.
  void load(std::span<const NamedTensor> tensors, std::string_view where);

  // Training mode: batch norm uses and updates statistics of the batch, dropout drops.
  void train(bool on = true) { training_ = on; }
  bool training() const { return training_; }
  // Dropout's masks depend on the seed, the step and the layer alone; each forward() in training
  // mode counts the step up by one.
  void set_dropout(std::uint64_t seed, std::uint64_t step) {
    dropout_seed_ = seed;
    dropout_step_ = step;
  }

  // The share of the new batch in batch norm's running statistics, in [0, 1], in place of what each
  // layer has; nullopt: what it has. The caller may change it from step to step.
  void set_batch_norm_share(std::optional<double> share) { batch_norm_share_ = share; }

  // Whether dropout is active in training mode (the default); batch norm is not touched by it.
  void use_dropout(bool on = true) { dropout_on_ = on; }

  // Parameters whose names `covers` holds stay as they are: they require no gradient. Batch norm
  // whose running statistics it holds, and dropout whose node it holds, compute in training as in
  // evaluation, so that a part that is covered as a whole gives what it gives there.
  void freeze(const std::function<bool(std::string_view)>& covers);

  // Moves all tensors and drops their gradients; batch norm's tensors stay float32 when `dtype` is
  // a 16-bit type.
  void to(at::Device device, at::ScalarType dtype);
  // Weights of convolutions, and with them all values, are laid out NHWC (same numbers, faster).
  void channels_last(bool on = true);
  at::Device device() const;
  at::ScalarType dtype() const { return dtype_; }

  // images: (N, C, H, W) of the network's type and device, as input_shape() says; of a graph that
  // reads words (N, T) int64. Returns the tapped values, (N, ...). Throws std::invalid_argument for
  // another shape, type or device.
  at::Tensor forward(const at::Tensor& images, std::string_view tap = "embedding");
  std::vector<at::Tensor> forward(const at::Tensor& images, std::span<const std::string> taps);

  // The same in evaluation mode without recording gradients, whatever training() says. Safe to
  // call from several threads.
  at::Tensor infer(const at::Tensor& images, std::string_view tap = "embedding") const;

 private:
  struct Uninitialized {};
  Network(Graph graph, Uninitialized);
  friend Network fold_batch_norm(const Network& network);
  friend class InferenceNetwork;

  // A node's value computed in another way; an undefined tensor: run the node as it is.
  using Override = std::function<at::Tensor(int index, const std::vector<at::Tensor>& values)>;

  std::vector<at::Tensor> run(const at::Tensor& images, std::span<const int> outputs, bool training,
                              const Override& override = nullptr) const;
  at::Tensor run_node(int index, const std::vector<at::Tensor>& values, bool training) const;
  bool is_frozen(int index) const {
    return !frozen_.empty() && frozen_[static_cast<std::size_t>(index)];
  }
  // The node's options, with the running statistics' share that was set.
  BatchNormOptions batch_norm_options(int index) const;
  void check_input(const at::Tensor& input) const;

  Graph graph_;
  std::vector<NamedTensor> parameters_;
  std::vector<NamedTensor> buffers_;
  // For each node its tensors in the order of Graph::tensors(node).
  std::vector<std::vector<at::Tensor>> layers_;
  at::ScalarType dtype_ = at::kFloat;
  bool channels_last_ = false;
  bool training_ = true;
  std::optional<double> batch_norm_share_;
  bool dropout_on_ = true;
  std::vector<bool> frozen_;  // nodes that compute as in evaluation; empty: none
  std::uint64_t dropout_seed_ = 0;
  std::uint64_t dropout_step_ = 0;
};

// What a network reads, moved to `device`: images in the type `dtype`, words as they are.
at::Tensor input_on(const at::Tensor& input, at::Device device, at::ScalarType dtype);

// A network for inference with its batch norms folded (nn/batch_norm_folding.h); its outputs differ
// from the original's in evaluation mode by rounding alone.
Network fold_batch_norm(const Network& network);

}  // namespace facebench
