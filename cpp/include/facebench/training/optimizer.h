#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "facebench/core/options.h"
#include "facebench/nn/network.h"

namespace facebench {

// Stochastic gradient descent with momentum, PyTorch's form of it:
//   g = gradient + weight_decay w;  v = momentum v + g;  w -= lr (nesterov ? g + momentum v : v).
struct OptimizerOptions {
  double lr = 0.1;
  double momentum = 0.9;
  double weight_decay = 5e-4;
  bool decay_vectors = true;
  bool nesterov = false;
  double clip_norm = 0;
  static void describe(OptionsBuilder<OptimizerOptions>& o);
};

// All tensors of a kind are changed by one fused call. Tensors without gradient are left alone.
class Sgd {
 public:
  // `parameters` are shared, not copied; names must be unique. Those of one dimension (biases,
  // batch norm's scale and shift, PReLU slopes) are not decayed where decay_vectors is false.
  Sgd(std::span<const NamedTensor> parameters, const OptimizerOptions& options);

  void zero_grad();
  // Scales all gradients together so that their Euclidean norm is at most clip_norm (0 = never).
  // Returns the norm before; 0 where clipping is off.
  double clip();
  void step(double lr);

  // The momentum of each parameter, under the parameter's name. Shared.
  std::vector<NamedTensor> momentum() const;

 private:
  struct Group {
    double weight_decay = 0;
    std::vector<NamedTensor> parameters;
    std::vector<at::Tensor> momentum;
  };
  OptimizerOptions options_;
  Group groups_[2];
};

}  // namespace facebench
