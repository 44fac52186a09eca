#include "facebench/training/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "facebench/core/options.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/update_in_backward.h"

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
  o.name("OptimizerOptions", "How the weights follow from the gradients.");
  o.choice("name", &OptimizerOptions::name,
           "sgd: gradient descent with momentum; adam: by moments, decay as part of the gradient; "
           "adamw: decay apart from it",
           {"sgd", "adam", "adamw"});
  o.field("lr", &OptimizerOptions::lr, "learning rate that the schedule starts from", 0, 1e3);
  o.field("momentum", &OptimizerOptions::momentum, "share of the last step kept (sgd)", 0, 1);
  o.choice(
      "momentum_rule", &OptimizerOptions::momentum_rule,
      "sgd: torch: the rate multiplies the momentum, w -= lr v; caffe: the momentum holds steps, "
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
  o.field(
      "backbone_lr_scale", &OptimizerOptions::backbone_lr_scale,
      "factor of the learning rate for the network; with initial weights of a file, for what is "
      "taken from it. The loss's weights, and new layers, learn at the whole rate",
      1e-9, 1e3);
  o.field("nesterov", &OptimizerOptions::nesterov, "Nesterov's momentum (sgd)");
  o.field("beta1", &OptimizerOptions::beta1, "share of the first moment kept (adam, adamw)", 0, 1);
  o.field("beta2", &OptimizerOptions::beta2, "share of the second moment kept (adam, adamw)", 0, 1);
  o.field("eps", &OptimizerOptions::eps, "added to the second moment's root (adam, adamw)", 0, 1);
  o.field("clip_norm", &OptimizerOptions::clip_norm,
          "largest Euclidean norm of all gradients together; 0: any", 0, 1e12);
  o.choice("clip_part", &OptimizerOptions::clip_part,
           "whose gradients clip_norm goes by and scales: all, or the network's without the loss's "
           "weights",
           {"all", "network"});
}

void check_optimizer(const OptimizerOptions& options) {
  if (options.is_adam() && (options.nesterov || options.momentum_rule != "torch"))
    throw std::invalid_argument("nesterov and momentum_rule are options of sgd, not of " +
                                options.name);
  // A moment of which all is kept stays the 0 that it began with, and is divided by 1 - 1.
  if (options.is_adam() && (options.beta1 >= 1 || options.beta2 >= 1))
    throw std::invalid_argument(
        fmt::format("beta1 = {} and beta2 = {} must be below 1", options.beta1, options.beta2));
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

ParameterRule parameter_rule(const OptimizerOptions& options, ParameterKind kind) {
  return {rate_multiplier(options, kind), is_decayed(options, kind) ? options.weight_decay : 0};
}

Optimizer::Optimizer(std::span<const TrainedParameter> parameters, const OptimizerOptions& options)
    : options_(options), steps_(at::zeros({1}, at::kFloat)) {
  check_optimizer(options);
  for (const TrainedParameter& p : parameters) {
    const auto [kind_mult, weight_decay] = parameter_rule(options, p.kind);
    const double lr_mult = kind_mult * p.lr_scale;
    if (lr_mult == 0) {
      frozen_.push_back(p.tensor);
      continue;
    }
    Group& g = group(lr_mult, weight_decay, options.clip_part == "all" || p.of_network);
    g.parameters.push_back(p);
    // Momentum from zeros makes the first step no special case: momentum * 0 + g = g.
    g.momentum.push_back(at::zeros_like(p.tensor));
    if (options_.is_adam()) g.second.push_back(at::zeros_like(p.tensor));
  }
}

Optimizer::Group& Optimizer::group(double lr_mult, double weight_decay, bool clipped) {
  for (Group& g : groups_)
    if (g.lr_mult == lr_mult && g.weight_decay == weight_decay && g.clipped == clipped) return g;
  groups_.push_back({.lr_mult = lr_mult, .weight_decay = weight_decay, .clipped = clipped});
  return groups_.back();
}

void Optimizer::zero_grad() {
  for (Group& group : groups_)
    for (PartialTensor& p : group.parameters) p.tensor.mutable_grad() = at::Tensor();
  for (at::Tensor& t : frozen_) t.mutable_grad() = at::Tensor();
  early_square_ = std::nullopt;
}

void Optimizer::backward(const at::Tensor& loss, Head& head, double lr, bool measured) {
  const at::Tensor weight = head.class_weight();
  for (Group& group : groups_)
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      if (!group.parameters[i].tensor.is_same(weight)) continue;
      if (options_.clip_norm > 0 || !head.updates_in_backward() || weight.grad().defined())
        continue;
      update_in_backward(loss, head, group, i, lr, measured);
      return;
    }
  loss.backward();
}

void Optimizer::update_in_backward(const at::Tensor& loss, Head& head, Group& group, std::size_t i,
                                   double lr, bool measured) {
  const PartialTensor& parameter = group.parameters[i];
  const at::Tensor value = parameter.tensor.detach();
  const at::Tensor steps = steps_ + 1;  // step() follows
  const double rate = lr * group.lr_mult;
  std::mutex mutex;
  std::map<std::int64_t, double> squares;  // by row, so that their sum has the same bits each time
  const UpdateInBackward early(head, [&](std::int64_t first, const at::Tensor& gradient) {
    const at::NoGradGuard no_grad;
    if (measured) {
      const double norm = gradient.norm().item<double>();
      const std::lock_guard lock(mutex);
      squares[first] = norm * norm;
    }
    const auto rows = [&](const at::Tensor& t) { return t.narrow(0, first, gradient.size(0)); };
    Tensors tile{{rows(value)}, {gradient}, {rows(group.momentum[i])}, {}};
    if (options_.is_adam()) tile.second = {rows(group.second[i])};
    update(tile, rate, group.weight_decay, steps);
  });
  loss.backward();
  if (early.done() && parameter.tensor.grad().defined())
    throw std::logic_error("the loss depends on " + parameter.name +
                           " in another way than by the head's loss, so it cannot be changed in "
                           "the backward pass; use loss.backward() and step()");
  if (!measured || !early.done()) return;
  early_square_ = 0;
  for (const auto& [first, square] : squares) *early_square_ += square;
  early_is_split_ = parameter.split();
}

Optimizer::Gradients Optimizer::gradients(bool clipped) const {
  Gradients result;
  (early_is_split_ ? result.split_square : result.whole_square) = early_square_;
  for (const Group& group : groups_)
    for (const PartialTensor& p : group.parameters) {
      if (!p.tensor.grad().defined() || (clipped && !group.clipped)) continue;
      if (p.tensor.grad().is_sparse()) p.tensor.mutable_grad() = p.tensor.grad().coalesce();
      const at::Tensor& g = p.tensor.grad();
      (p.split() ? result.split : result.whole).push_back(g.is_sparse() ? g.values() : g);
    }
  return result;
}

double Optimizer::norm(const Gradients& gradients, Communicator& communicator) {
  const auto norm_of = [](const std::vector<at::Tensor>& tensors) {
    return tensors.empty() ? 0.0 : at::stack(at::_foreach_norm(tensors)).norm().item<double>();
  };
  const double norm =
      std::hypot(norm_of(gradients.whole), std::sqrt(gradients.whole_square.value_or(0)));
  if (gradients.split.empty() && !gradients.split_square) return norm;
  at::Tensor square =
      at::full({1}, std::pow(norm_of(gradients.split), 2) + gradients.split_square.value_or(0),
               at::TensorOptions(at::kDouble));
  communicator.all_reduce(std::span(&square, 1));
  return std::sqrt(norm * norm + square.item<double>());
}

double Optimizer::gradient_norm(Communicator& communicator) const {
  const at::NoGradGuard no_grad;
  return norm(gradients(), communicator);
}

double Optimizer::clip(Communicator& communicator) {
  if (options_.clip_norm <= 0) return 0;
  const at::NoGradGuard no_grad;
  Gradients all = gradients(/*clipped=*/true);
  const double before = norm(all, communicator);
  if (before > options_.clip_norm) {
    all.whole.insert(all.whole.end(), all.split.begin(), all.split.end());
    at::_foreach_mul_(all.whole, options_.clip_norm / before);
  }
  return before;
}

void Optimizer::step(double lr) {
  const at::NoGradGuard no_grad;
  steps_ += 1;
  for (Group& group : groups_) {
    const double rate = lr * group.lr_mult;
    Tensors all;
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const at::Tensor& value = group.parameters[i].tensor;
      at::Tensor gradient = value.grad();
      if (!gradient.defined()) continue;
      if (gradient.is_sparse()) {
        update_rows(group, i, rate);
        continue;
      }
      // The fused kernel walks raw memory: all must be laid out alike.
      if (gradient.strides() != value.strides()) gradient = at::empty_like(value).copy_(gradient);
      all.values.push_back(value);
      all.gradients.push_back(gradient);
      all.momentum.push_back(group.momentum[i]);
      if (options_.is_adam()) all.second.push_back(group.second[i]);
    }
    if (!all.values.empty()) update(all, rate, group.weight_decay, steps_);
  }
}

void Optimizer::update(Tensors& t, double rate, double decay, const at::Tensor& taken) const {
  if (options_.is_adam()) {
    const std::vector<at::Tensor> steps(t.values.size(), taken.to(t.values[0].device()));
    if (options_.name == "adam")
      at::_fused_adam_(t.values, t.gradients, t.momentum, t.second, {}, steps, rate, options_.beta1,
                       options_.beta2, decay, options_.eps, /*amsgrad=*/false, /*maximize=*/false);
    else
      at::_fused_adamw_(t.values, t.gradients, t.momentum, t.second, {}, steps, rate,
                        options_.beta1, options_.beta2, decay, options_.eps, /*amsgrad=*/false,
                        /*maximize=*/false);
    return;
  }
  if (options_.momentum_rule == "caffe") {  // torch's rule with steps in place of gradients
    at::_foreach_mul_(t.gradients, rate);
    decay *= rate;
    rate = 1;
  }
  // Without momentum torch takes no buffers; they stay at zero.
  const std::vector<at::Tensor> none;
  at::_fused_sgd_(t.values, t.gradients, options_.momentum > 0 ? t.momentum : none, decay,
                  options_.momentum, rate, /*dampening=*/0, options_.nesterov,
                  /*maximize=*/false, /*is_first_step=*/false);
}

void Optimizer::update_rows(Group& group, std::size_t i, double rate) const {
  at::Tensor value = group.parameters[i].tensor;
  const at::Tensor gradient = value.grad().coalesce();
  const at::Tensor index = gradient.indices()[0];
  Tensors rows{{value.index_select(0, index)},
               {gradient.values().contiguous()},
               {group.momentum[i].index_select(0, index)},
               {}};
  if (options_.is_adam()) rows.second = {group.second[i].index_select(0, index)};
  update(rows, rate, group.weight_decay, steps_);
  value.index_copy_(0, index, rows.values[0]);
  group.momentum[i].index_copy_(0, index, rows.momentum[0]);
  if (options_.is_adam()) group.second[i].index_copy_(0, index, rows.second[0]);
}

std::vector<PartialTensor> Optimizer::state() const {
  std::vector<PartialTensor> result;
  const auto add = [&](const std::string& kind, const PartialTensor& parameter,
                       const at::Tensor& tensor) {
    PartialTensor kept = parameter;
    kept.name = kind + "." + parameter.name;
    kept.tensor = tensor;
    result.push_back(std::move(kept));
  };
  for (const Group& group : groups_)
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      add(options_.is_adam() ? "first_moment" : "momentum", group.parameters[i], group.momentum[i]);
      if (options_.is_adam()) add("second_moment", group.parameters[i], group.second[i]);
    }
  if (options_.is_adam()) result.push_back({{"optimizer.steps", steps_}});
  return result;
}

}  // namespace facebench
