#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/nn/communicator.h"
#include "facebench/nn/head.h"

namespace facebench {

// "sgd": stochastic gradient descent with momentum mu, rate lr and g = gradient + weight_decay w:
//   momentum_rule "torch": v = mu v + g,     w -= lr (nesterov ? g + mu v : v);
//   momentum_rule "caffe": v = mu v + lr g,  w -= nesterov ? lr g + mu v : v.
// They are the same while the rate stays; where it falls, Caffe's momentum still holds steps of the
// old one. Source: Caffe's sgd_solver.cpp, ComputeUpdateValue, and nesterov_solver.cpp.
// "adam", in step t:
//   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
//   w -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps).
// Source: Kingma & Ba, "Adam", ICLR 2015, algorithm 1.
// "adamw": the same with g = gradient, and w *= 1 - lr weight_decay before.
// Source: Loshchilov & Hutter, "Decoupled weight decay regularization", ICLR 2019, algorithm 2,
// with PyTorch's decay, which the rate multiplies.
//
// lr_mult and decay_mult are Caffe's words for what each kind of parameter has of its own.
struct OptimizerOptions {
  std::string name = "sgd";
  double lr = 0.1;
  double momentum = 0.9;
  std::string momentum_rule = "torch";
  double weight_decay = 5e-4;
  bool decay_biases = true;
  bool decay_norms = true;
  bool decay_slopes = true;
  double bias_lr_mult = 1;
  double backbone_lr_scale = 1;
  std::optional<double> residual_bias_lr_mult;
  bool nesterov = false;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double clip_norm = 0;
  std::string clip_part = "all";

  bool is_adam() const { return name != "sgd"; }
  // Numbers kept for each weight from step to step.
  int moments() const { return is_adam() ? 2 : 1; }
  static void describe(OptionsBuilder<OptimizerOptions>& o);
};

// Throws std::invalid_argument where an option is set that another optimizer has.
void check_optimizer(const OptimizerOptions& options);

// What a parameter is, as far as the optimizer's options tell them apart.
enum class ParameterKind : std::uint8_t {
  weight,
  bias,           // of a convolution or linear layer
  residual_bias,  // of a convolution with as many outputs as inputs
  norm,           // batch norm's scale and shift
  slope,          // of a PReLU
};
ParameterKind parameter_kind(const TensorSpec& spec);

// What the rate is multiplied by, and the decay of the weights.
struct ParameterRule {
  double lr_mult, weight_decay;
};
ParameterRule parameter_rule(const OptimizerOptions& options, ParameterKind kind);

struct TrainedParameter : PartialTensor {
  ParameterKind kind = ParameterKind::weight;
  bool of_network = false;  // else of a loss
  double lr_scale = 1;      // of the rate, beside what the options say of its kind
};

// All tensors with the same rate and decay are changed by one fused call. Tensors without gradient
// are left alone; so are, of a tensor with a sparse gradient, the rows that it lacks: neither
// decayed nor moved on by their momentum, which waits for them. (Adam's t counts all steps.)
class Optimizer {
 public:
  // `parameters` are shared, not copied; names must be unique. Those whose lr_mult is 0 keep their
  // values: they have no momentum, and their gradients do not count in clip().
  Optimizer(std::span<const TrainedParameter> parameters, const OptimizerOptions& options);

  void zero_grad();
  // The backward pass of `loss`, in which the class weight of `head` is changed as step(lr) would
  // change it, piece by piece while the gradient is in the cache; the gradient is stored nowhere.
  // step(lr) then changes all other parameters. The same bits as loss.backward() and step(lr).
  // A plain loss.backward() where that cannot be: not head.updates_in_backward(), the weight has a
  // gradient already or is not among the parameters, clip_norm is set.
  // `measured`: gradient_norm() will be asked for. Throws std::logic_error where `loss` depends on
  // the weight in another way than by one head.loss().
  void backward(const at::Tensor& loss, Head& head, double lr, bool measured = false);
  // Scales all gradients together, or those of the network (clip_part), so that their Euclidean
  // norm is at most clip_norm (0 = never). Returns the norm before; 0 where clipping is off.
  // Collective, as gradient_norm() is.
  double clip(Communicator& communicator);
  // The Euclidean norm of all gradients together. Collective: of split parameters the other
  // processes' rows count too.
  double gradient_norm(Communicator& communicator) const;
  // Changes the gradients too where momentum_rule is "caffe".
  void step(double lr);

  // What goes on from step to step, shared: "momentum.NAME" for each parameter; of Adam
  // "first_moment.NAME", "second_moment.NAME" and "optimizer.steps".
  std::vector<PartialTensor> state() const;

 private:
  struct Group {
    double lr_mult = 1;
    double weight_decay = 0;
    bool clipped = true;
    std::vector<PartialTensor> parameters;
    std::vector<at::Tensor> momentum, second;  // Adam: the moments; else the latter is empty
  };
  // Tensors that are changed together, each with its gradient and what is kept of it.
  struct Tensors {
    std::vector<at::Tensor> values, gradients, momentum, second;
  };
  // The gradients there are, of sparse ones the values.
  struct Gradients {
    std::vector<at::Tensor> whole, split;
    std::optional<double> whole_square, split_square;  // of the one that is stored nowhere
  };
  // `clipped`: those alone that clip() goes by.
  Gradients gradients(bool clipped = false) const;
  static double norm(const Gradients& gradients, Communicator& communicator);
  // One fused call; the gradients may be changed. `steps`: with this one.
  void update(Tensors& tensors, double rate, double decay, const at::Tensor& steps) const;
  void update_rows(Group& group, std::size_t i, double rate) const;
  void update_in_backward(const at::Tensor& loss, Head& head, Group& group, std::size_t i,
                          double lr, bool measured);
  Group& group(double lr_mult, double weight_decay, bool clipped);

  OptimizerOptions options_;
  std::vector<Group> groups_;
  std::vector<at::Tensor> frozen_;
  // The squared norm of the gradient that backward() did not store, where it was measured.
  std::optional<double> early_square_;
  bool early_is_split_ = false;
  at::Tensor steps_;  // taken so far; one float32
};

}  // namespace facebench
