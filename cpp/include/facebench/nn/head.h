#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/options.h"
#include "facebench/core/registry.h"
#include "facebench/io/json.h"
#include "facebench/nn/network.h"

namespace facebench {

// What a head is made for.
struct HeadShape {
  std::int64_t features = 0;  // D, length of an embedding
  std::int64_t classes = 0;   // C
  std::uint64_t seed = 0;     // of the initial weights
  at::ScalarType dtype = at::kFloat;
};

// A loss with the parameters it needs: the last layer of a network in training, thrown away after.
//
// In training mode (the start) each call of loss() is one iteration: it moves what the method keeps
// between iterations (centres, the iteration that lambda is annealed by). In evaluation mode
// nothing moves. Everything kept is a buffer, so parameters() and buffers() are the whole state.
class Head {
 public:
  struct Output {
    at::Tensor loss;       // scalar, mean over the batch
    at::Tensor logits;     // (N, C), without gradient and without margin, to measure accuracy with
    at::Tensor predicted;  // (N) int64, the class with the highest of them
  };

  virtual ~Head() = default;
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;

  // features (N, D) floating point, labels (N) int64 in [0, C), N >= 1. Throws
  // std::invalid_argument for other shapes and types, std::out_of_range for a label.
  //
  // In float32 on the CPU the classes go by in tiles, and their gradients are made without unit
  // weights or probabilities in memory (docs/training-speed.md); logits is then laid out class by
  // class. Features in bfloat16 are multiplied with weights rounded to it, where the processor has
  // such products; sums, margins and the loss are float32.
  Output loss(const at::Tensor& features, const at::Tensor& labels);

  // Leaf tensors that require gradient. They are shared, not copied: an optimizer changes them in
  // place.
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  const std::vector<NamedTensor>& buffers() const { return buffers_; }
  // Replaces a buffer, e.g. after a move to another device. Throws std::invalid_argument for an
  // unknown name or another shape.
  void set_buffer(std::string_view name, const at::Tensor& value);

  void train(bool on = true) { training_ = on; }
  bool training() const { return training_; }

  const std::string& name() const { return name_; }
  // The loss's options, all of them.
  const Json& options() const { return options_; }
  const HeadShape& shape() const { return shape_; }

 protected:
  Head(std::string name, Json options, const HeadShape& shape);
  virtual Output compute(const at::Tensor& features, const at::Tensor& labels) = 0;

  // `init` as in nn/losses.h; Philox stream (seed, "head", name).
  at::Tensor& add_parameter(const std::string& name, std::vector<std::int64_t> size,
                            const std::string& init);
  at::Tensor& add_buffer(const std::string& name, const at::Tensor& value);
  at::Tensor& parameter(std::size_t i) { return parameters_[i].tensor; }
  at::Tensor& buffer(std::size_t i) { return buffers_[i].tensor; }

 private:
  std::string name_;
  Json options_;
  HeadShape shape_;
  std::vector<NamedTensor> parameters_, buffers_;
  bool training_ = true;
};

struct LossEntry {
  std::string name;
  std::string doc;
  std::string source;  // the paper, and whose convention where they differ
  const OptionsSchema* options = nullptr;
  std::function<std::unique_ptr<Head>(const LossEntry&, const Json&, const HeadShape&)> make;
};

// softmax, center, sphereface, cosface, arcface.
const Table<LossEntry>& losses();

// The head of the loss called `name`; `options` is an object of its options, what is left out keeps
// its default. Throws std::invalid_argument for an unknown loss (did you mean) or an empty shape,
// Error for a bad option.
std::unique_ptr<Head> make_head(std::string_view name, const Json& options, const HeadShape& shape);

}  // namespace facebench
