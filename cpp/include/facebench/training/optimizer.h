#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/options.h"
#include "facebench/nn/communicator.h"
#include "facebench/nn/head.h"

namespace facebench {

// Stochastic gradient descent with momentum mu, rate lr and g = gradient + weight_decay w:
//   momentum_rule "torch": v = mu v + g,     w -= lr (nesterov ? g + mu v : v);
//   momentum_rule "caffe": v = mu v + lr g,  w -= nesterov ? lr g + mu v : v.
// They are the same while the rate stays; where it falls, Caffe's momentum still holds steps of the
// old one. Source: Caffe's sgd_solver.cpp, ComputeUpdateValue, and nesterov_solver.cpp.
//
// lr_mult and decay_mult are Caffe's words for what each kind of parameter has of its own.
struct OptimizerOptions {
  double lr = 0.1;
  double momentum = 0.9;
  std::string momentum_rule = "torch";
  double weight_decay = 5e-4;
  bool decay_biases = true;
  bool decay_norms = true;
  bool decay_slopes = true;
  double bias_lr_mult = 1;
  std::optional<double> residual_bias_lr_mult;
  bool nesterov = false;
  double clip_norm = 0;
  static void describe(OptionsBuilder<OptimizerOptions>& o);
};

// What a parameter is, as far as the optimizer's options tell them apart.
enum class ParameterKind : std::uint8_t {
  weight,
  bias,           // of a convolution or linear layer
  residual_bias,  // of a convolution with as many outputs as inputs
  norm,           // batch norm's scale and shift
  slope,          // of a PReLU
};
ParameterKind parameter_kind(const TensorSpec& spec);

struct TrainedParameter : PartialTensor {
  ParameterKind kind = ParameterKind::weight;
};

// All tensors with the same rate and decay are changed by one fused call. Tensors without gradient
// are left alone; so are, of a tensor with a sparse gradient, the rows that it lacks: neither
// decayed nor moved on by their momentum, which waits for them.
class Sgd {
 public:
  // `parameters` are shared, not copied; names must be unique. Those whose lr_mult is 0 keep their
  // values: they have no momentum, and their gradients do not count in clip().
  Sgd(std::span<const TrainedParameter> parameters, const OptimizerOptions& options);

  void zero_grad();
  // Scales all gradients together so that their Euclidean norm is at most clip_norm (0 = never).
  // Returns the norm before; 0 where clipping is off. Collective: of split parameters the other
  // processes' rows count too.
  double clip(Communicator& communicator);
  // Changes the gradients too where momentum_rule is "caffe".
  void step(double lr);

  // The momentum of each parameter, under the parameter's name. Shared.
  std::vector<PartialTensor> momentum() const;

 private:
  struct Group {
    double lr_mult = 1;
    double weight_decay = 0;
    std::vector<PartialTensor> parameters;
    std::vector<at::Tensor> momentum;
  };
  // One fused call; `gradients` may be changed.
  void update(std::vector<at::Tensor>& values, std::vector<at::Tensor>& gradients,
              std::vector<at::Tensor>& momentum, double rate, double decay) const;
  void update_rows(const PartialTensor& parameter, at::Tensor& momentum, double rate,
                   double decay) const;
  Group& group(double lr_mult, double weight_decay);

  OptimizerOptions options_;
  std::vector<Group> groups_;
  std::vector<at::Tensor> frozen_;
};

}  // namespace facebench
