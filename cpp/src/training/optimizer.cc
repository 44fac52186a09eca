#include "facebench/training/optimizer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace facebench {

void OptimizerOptions::describe(OptionsBuilder<OptimizerOptions>& o) {
  o.name("OptimizerOptions", "Stochastic gradient descent with momentum.");
  o.field("lr", &OptimizerOptions::lr, "learning rate that the schedule starts from", 0, 1e3);
  o.field("momentum", &OptimizerOptions::momentum, "share of the last step kept", 0, 1);
  o.field("weight_decay", &OptimizerOptions::weight_decay, "factor of the squared norm's half", 0,
          1e3);
  o.field("decay_vectors", &OptimizerOptions::decay_vectors,
          "whether biases, batch norm and PReLU slopes are decayed too");
  o.field("nesterov", &OptimizerOptions::nesterov, "Nesterov's momentum");
  o.field("clip_norm", &OptimizerOptions::clip_norm,
          "largest Euclidean norm of all gradients together; 0: any", 0, 1e12);
}

Sgd::Sgd(std::span<const NamedTensor> parameters, const OptimizerOptions& options)
    : options_(options) {
  groups_[0].weight_decay = options.weight_decay;
  groups_[1].weight_decay = options.decay_vectors ? options.weight_decay : 0;
  for (const NamedTensor& p : parameters) {
    Group& group = groups_[p.tensor.dim() <= 1];
    group.parameters.push_back(p);
    // Momentum from zeros makes the first step no special case: momentum * 0 + g = g.
    group.momentum.push_back(at::zeros_like(p.tensor));
  }
}

void Sgd::zero_grad() {
  for (Group& group : groups_)
    for (NamedTensor& p : group.parameters) p.tensor.mutable_grad() = at::Tensor();
}

double Sgd::clip() {
  if (options_.clip_norm <= 0) return 0;
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (Group& group : groups_)
    for (NamedTensor& p : group.parameters)
      if (p.tensor.grad().defined()) gradients.push_back(p.tensor.grad());
  if (gradients.empty()) return 0;
  const double norm = at::stack(at::_foreach_norm(gradients)).norm().item<double>();
  if (norm > options_.clip_norm) at::_foreach_mul_(gradients, options_.clip_norm / norm);
  return norm;
}

void Sgd::step(double lr) {
  const at::NoGradGuard no_grad;
  for (Group& group : groups_) {
    std::vector<at::Tensor> values, gradients, momentum;
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const at::Tensor& value = group.parameters[i].tensor;
      at::Tensor gradient = value.grad();
      if (!gradient.defined()) continue;
      // The fused kernel walks raw memory: all three must be laid out alike.
      if (gradient.strides() != value.strides()) gradient = at::empty_like(value).copy_(gradient);
      values.push_back(value);
      gradients.push_back(gradient);
      momentum.push_back(group.momentum[i]);
    }
    if (values.empty()) continue;
    at::_fused_sgd_(values, gradients, momentum, group.weight_decay, options_.momentum, lr,
                    /*dampening=*/0, options_.nesterov, /*maximize=*/false,
                    /*is_first_step=*/false);
  }
}

std::vector<NamedTensor> Sgd::momentum() const {
  std::vector<NamedTensor> result;
  for (const Group& group : groups_)
    for (std::size_t i = 0; i < group.parameters.size(); ++i)
      result.push_back({group.parameters[i].name, group.momentum[i]});
  return result;
}

}  // namespace facebench
