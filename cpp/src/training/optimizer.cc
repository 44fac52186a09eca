#include "facebench/training/optimizer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <utility>

namespace facebench {
namespace {

double rate_multiplier(const OptimizerOptions& o, ParameterKind kind) {
  if (kind == ParameterKind::residual_bias && o.residual_bias_lr_mult)
    return *o.residual_bias_lr_mult;
  const bool bias = kind == ParameterKind::bias || kind == ParameterKind::residual_bias;
  return bias ? o.bias_lr_mult : 1;
}

bool is_decayed(const OptimizerOptions& o, ParameterKind kind) {
  switch (kind) {
    case ParameterKind::weight:
      return true;
    case ParameterKind::bias:
    case ParameterKind::residual_bias:
      return o.decay_biases;
    case ParameterKind::norm:
      return o.decay_norms;
    case ParameterKind::slope:
      return o.decay_slopes;
  }
  return true;
}

}  // namespace

void OptimizerOptions::describe(OptionsBuilder<OptimizerOptions>& o) {
  o.name("OptimizerOptions", "Stochastic gradient descent with momentum.");
  o.field("lr", &OptimizerOptions::lr, "learning rate that the schedule starts from", 0, 1e3);
  o.field("momentum", &OptimizerOptions::momentum, "share of the last step kept", 0, 1);
  o.choice("momentum_rule", &OptimizerOptions::momentum_rule,
           "torch: the rate multiplies the momentum, w -= lr v; caffe: the momentum holds steps, "
           "v = momentum v + lr g",
           {"torch", "caffe"});
  o.field("weight_decay", &OptimizerOptions::weight_decay, "factor of the squared norm's half", 0,
          1e3);
  o.field("decay_biases", &OptimizerOptions::decay_biases, "whether biases are decayed too");
  o.field("decay_norms", &OptimizerOptions::decay_norms,
          "whether batch norm's scale and shift are decayed too");
  o.field("decay_slopes", &OptimizerOptions::decay_slopes,
          "whether the slopes of PReLU are decayed too");
  o.field("bias_lr_mult", &OptimizerOptions::bias_lr_mult,
          "factor of the learning rate for biases; 0: they keep their initial values", 0, 1e3);
  o.field("residual_bias_lr_mult", &OptimizerOptions::residual_bias_lr_mult,
          "the same for biases of convolutions with as many outputs as inputs; default: as other "
          "biases",
          0, 1e3);
  o.field("nesterov", &OptimizerOptions::nesterov, "Nesterov's momentum");
  o.field("clip_norm", &OptimizerOptions::clip_norm,
          "largest Euclidean norm of all gradients together; 0: any", 0, 1e12);
}

ParameterKind parameter_kind(const TensorSpec& spec) {
  switch (spec.role) {
    case TensorRole::bias:
      return spec.keeps_width ? ParameterKind::residual_bias : ParameterKind::bias;
    case TensorRole::scale:
    case TensorRole::shift:
      return ParameterKind::norm;
    case TensorRole::slope:
      return ParameterKind::slope;
    default:
      return ParameterKind::weight;
  }
}

Sgd::Sgd(std::span<const TrainedParameter> parameters, const OptimizerOptions& options)
    : options_(options) {
  for (const TrainedParameter& p : parameters) {
    const double lr_mult = rate_multiplier(options, p.kind);
    if (lr_mult == 0) {
      frozen_.push_back(p.tensor);
      continue;
    }
    Group& g = group(lr_mult, is_decayed(options, p.kind) ? options.weight_decay : 0);
    g.parameters.push_back(p);
    // Momentum from zeros makes the first step no special case: momentum * 0 + g = g.
    g.momentum.push_back(at::zeros_like(p.tensor));
  }
}

Sgd::Group& Sgd::group(double lr_mult, double weight_decay) {
  for (Group& g : groups_)
    if (g.lr_mult == lr_mult && g.weight_decay == weight_decay) return g;
  groups_.push_back({.lr_mult = lr_mult, .weight_decay = weight_decay});
  return groups_.back();
}

void Sgd::zero_grad() {
  for (Group& group : groups_)
    for (PartialTensor& p : group.parameters) p.tensor.mutable_grad() = at::Tensor();
  for (at::Tensor& t : frozen_) t.mutable_grad() = at::Tensor();
}

double Sgd::clip(Communicator& communicator) {
  if (options_.clip_norm <= 0) return 0;
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> whole, split;
  for (Group& group : groups_)
    for (PartialTensor& p : group.parameters) {
      if (!p.tensor.grad().defined()) continue;
      if (p.tensor.grad().is_sparse()) p.tensor.mutable_grad() = p.tensor.grad().coalesce();
      const at::Tensor& g = p.tensor.grad();
      (p.split() ? split : whole).push_back(g.is_sparse() ? g.values() : g);
    }
  if (whole.empty() && split.empty()) return 0;
  const auto norm_of = [](const std::vector<at::Tensor>& gradients) {
    return gradients.empty() ? 0.0 : at::stack(at::_foreach_norm(gradients)).norm().item<double>();
  };
  double norm = norm_of(whole);
  if (!split.empty()) {
    at::Tensor square = at::full({1}, std::pow(norm_of(split), 2), at::TensorOptions(at::kDouble));
    communicator.all_reduce(std::span(&square, 1));
    norm = std::sqrt(norm * norm + square.item<double>());
  }
  if (norm > options_.clip_norm) {
    whole.insert(whole.end(), split.begin(), split.end());
    at::_foreach_mul_(whole, options_.clip_norm / norm);
  }
  return norm;
}

void Sgd::step(double lr) {
  const at::NoGradGuard no_grad;
  for (Group& group : groups_) {
    const double rate = lr * group.lr_mult;
    std::vector<at::Tensor> values, gradients, momentum;
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const at::Tensor& value = group.parameters[i].tensor;
      at::Tensor gradient = value.grad();
      if (!gradient.defined()) continue;
      if (gradient.is_sparse()) {
        update_rows(group.parameters[i], group.momentum[i], rate, group.weight_decay);
        continue;
      }
      // The fused kernel walks raw memory: all three must be laid out alike.
      if (gradient.strides() != value.strides()) gradient = at::empty_like(value).copy_(gradient);
      values.push_back(value);
      gradients.push_back(gradient);
      momentum.push_back(group.momentum[i]);
    }
    if (!values.empty()) update(values, gradients, momentum, rate, group.weight_decay);
  }
}

void Sgd::update(std::vector<at::Tensor>& values, std::vector<at::Tensor>& gradients,
                 std::vector<at::Tensor>& momentum, double rate, double decay) const {
  if (options_.momentum_rule == "caffe") {  // torch's rule with steps in place of gradients
    at::_foreach_mul_(gradients, rate);
    decay *= rate;
    rate = 1;
  }
  at::_fused_sgd_(values, gradients, momentum, decay, options_.momentum, rate,
                  /*dampening=*/0, options_.nesterov, /*maximize=*/false,
                  /*is_first_step=*/false);
}

void Sgd::update_rows(const PartialTensor& parameter, at::Tensor& momentum, double rate,
                      double decay) const {
  const at::Tensor gradient = parameter.tensor.grad().coalesce();
  const at::Tensor index = gradient.indices()[0];
  at::Tensor all_values = parameter.tensor;
  std::vector<at::Tensor> values{all_values.index_select(0, index)},
      gradients{gradient.values().contiguous()}, moments{momentum.index_select(0, index)};
  update(values, gradients, moments, rate, decay);
  all_values.index_copy_(0, index, values[0]);
  momentum.index_copy_(0, index, moments[0]);
}

std::vector<PartialTensor> Sgd::momentum() const {
  std::vector<PartialTensor> result;
  for (const Group& group : groups_)
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      PartialTensor momentum = group.parameters[i];
      momentum.tensor = group.momentum[i];
      result.push_back(std::move(momentum));
    }
  return result;
}

}  // namespace facebench
