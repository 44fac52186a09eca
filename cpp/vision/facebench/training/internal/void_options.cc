#include "facebench/training/internal/void_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "facebench/nn/networks.h"

namespace facebench {
namespace {

// What decides whether options have an effect, and the sentence where it does not let them.
class VoidOptions {
 public:
  explicit VoidOptions(const Recipe& recipe) : recipe_(recipe), values_(recipe_to_json(recipe)) {}

  // "schedule.policy = cosine"
  std::string says(std::string_view key) const {
    const Json& value = at(key);
    return fmt::format("{} = {}", key, value.is_string() ? value.get<std::string>() : value.dump());
  }

  // `keys` have an effect where `used`; else `why` it is not.
  void when(bool used, std::initializer_list<std::string_view> keys, const std::string& why) {
    if (used) return;
    for (const std::string_view key : keys)
      if (recipe_.given.contains(std::string(key)))
        sentences_.push_back(fmt::format("{} has no effect: {}. Leave it out, or change the other.",
                                         says(key), why));
  }
  // `keys` belong to one of some values of `choice`.
  void of(std::string_view choice, std::initializer_list<std::string_view> values,
          std::initializer_list<std::string_view> keys) {
    const auto now = at(choice).get<std::string>();
    when(std::ranges::find(values, now) != values.end(), keys, says(choice));
  }

  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  const Json& at(std::string_view key) const {
    const std::size_t dot = key.find('.');
    return values_.at(std::string(key.substr(0, dot))).at(std::string(key.substr(dot + 1)));
  }

  const Recipe& recipe_;
  Json values_;
  std::vector<std::string> sentences_;
};

void of_schedule(const ScheduleOptions& s, VoidOptions& options) {
  options.of("schedule.policy", {"step", "multistep", "exponential", "inverse"},
             {"schedule.gamma"});
  options.of("schedule.policy", {"step"}, {"schedule.step"});
  options.of("schedule.policy", {"multistep"}, {"schedule.milestones"});
  options.of("schedule.policy", {"polynomial", "inverse"}, {"schedule.power"});
  options.of("schedule.policy", {"polynomial", "cosine"}, {"schedule.final_lr"});
  const std::string no_warmup = options.says("schedule.warmup");
  options.when(s.warmup > 0, {"schedule.warmup_start"}, no_warmup);
  if (s.warmup == 0)
    options.of("schedule.policy", {"step", "multistep", "exponential", "inverse"},
               {"schedule.unit"});
  options.when(s.policy != "multistep" || !s.milestones.empty(), {"schedule.gamma"},
               options.says("schedule.milestones"));
}

void of_optimizer(const PlannedTraining& plan, VoidOptions& options) {
  const OptimizerOptions& o = plan.recipe.optimizer;
  options.of("optimizer.name", {"sgd"}, {"optimizer.momentum"});
  options.of("optimizer.name", {"adam", "adamw"},
             {"optimizer.beta1", "optimizer.beta2", "optimizer.eps"});
  if (!o.is_adam())
    options.when(o.momentum > 0, {"optimizer.momentum_rule", "optimizer.nesterov"},
                 options.says("optimizer.momentum"));
  options.when(o.clip_norm > 0, {"optimizer.clip_part"}, options.says("optimizer.clip_norm"));
  options.when(o.weight_decay > 0,
               {"optimizer.decay_biases", "optimizer.decay_norms", "optimizer.decay_slopes"},
               options.says("optimizer.weight_decay"));
}

// What a kind of parameter is told, of which the network has none.
void of_parameters(const PlannedTraining& plan, VoidOptions& options) {
  if (!plan.network.ours()) return;  // a network of the caller's may call its parts otherwise
  std::vector<ParameterKind> kinds;
  for (const TrainedParameter& p : plan.network.parameters()) kinds.push_back(p.kind);
  for (const PartialTensor& p : plan.head.parameters())
    if (p.tensor.dim() <= 1) kinds.push_back(ParameterKind::bias);
  const auto has = [&](ParameterKind kind) {
    return std::ranges::find(kinds, kind) != kinds.end();
  };
  const bool norm = has(ParameterKind::norm), residual = has(ParameterKind::residual_bias);
  const auto of_network = [&](const char* what) {
    return fmt::format("network {} has no {}", plan.recipe.network, what);
  };
  const bool bias = has(ParameterKind::bias) || residual;
  options.when(bias, {"optimizer.bias_lr_mult"}, of_network("bias"));
  options.when(residual, {"optimizer.residual_bias_lr_mult"},
               of_network("bias of a convolution that keeps the width"));
  if (plan.recipe.optimizer.weight_decay > 0) {
    options.when(bias, {"optimizer.decay_biases"}, of_network("bias"));
    options.when(norm, {"optimizer.decay_norms"}, of_network("batch norm"));
    options.when(has(ParameterKind::slope), {"optimizer.decay_slopes"}, of_network("PReLU"));
  }
  options.when(has_batch_norm(plan.network),
               {"training.batch_norm_decay", "training.batch_norm_average"},
               of_network("batch norm"));
  options.when(networks().at(plan.recipe.network).defaults.auxiliary.has_value(),
               {"training.aux_weight"}, of_network("auxiliary classifier"));
}

void of_training(const PlannedTraining& plan, VoidOptions& options) {
  const TrainingOptions& t = plan.recipe.training;
  options.when(t.iterations == 0, {"training.epochs"}, options.says("training.iterations"));
  options.of("training.sampler", {"balanced", "people"}, {"training.images_per_person"});
  options.of("training.sampler", {"shuffle"}, {"training.last_batch"});
  options.when(t.patience > 0, {"training.min_delta"}, options.says("training.patience"));
}

void of_images(const PlannedTraining& plan, VoidOptions& options) {
  options.of("augmentation.view", {"random_resized_crop", "distorted_box"},
             {"augmentation.area", "augmentation.aspect"});
  options.of("augmentation.view", {"random_side_crop"}, {"augmentation.side"});
  options.of("input.view", {"center_fraction"}, {"input.view_fraction"});
  const InputView view = plan.network.input_view();
  const auto size = [](const ImageShape& s) { return fmt::format("{}x{}", s.height, s.width); };
  const bool smaller = view.image() != view.input();
  options.when(plan.recipe.augmentation.view != "random_crop" || smaller, {"augmentation.view"},
               fmt::format("the images are {}, and so is the network's input", size(view.image())));
}

void of_loss(const PlannedTraining& plan, VoidOptions& options) {
  const Json& o = plan.head.options();
  const auto number = [&](const char* name) { return o.at(name).get<double>(); };
  const std::string& loss = plan.recipe.loss;
  if (loss == "center")
    options.when(number("weight") > 0, {"loss.alpha", "loss.update"}, options.says("loss.weight"));
  if (loss == "arcface")
    options.when(number("m") > 0, {"loss.past_pi", "loss.gradient"}, options.says("loss.m"));
  if (loss == "adaface")
    options.when(number("m") > 0, {"loss.h", "loss.t_alpha"}, options.says("loss.m"));
  if (loss == "elasticface")
    options.when(number("std") > 0, {"loss.plus"}, options.says("loss.std"));
  if (loss == "sphereface") {
    options.when(number("m") > 1,
                 {"loss.lambda_base", "loss.lambda_min", "loss.gamma", "loss.power"},
                 options.says("loss.m"));
    if (number("m") > 1)
      options.when(
          number("lambda_base") > number("lambda_min"), {"loss.gamma", "loss.power"},
          options.says("loss.lambda_base") + " is not above " + options.says("loss.lambda_min"));
  }
  if (loss == "magface")
    options.when(number("l_margin") > 0 || number("u_margin") > 0, {"loss.past_pi"},
                 options.says("loss.l_margin") + " and " + options.says("loss.u_margin"));
}

// What the caller's own network or loss stands in place of.
void of_own(const PlannedTraining& plan, VoidOptions& options) {
  for (const std::string& key : plan.recipe.given) {
    if (key.ends_with(".name")) continue;
    if (key.starts_with("loss.")) options.when(!plan.own_loss, {key}, "the loss is your own");
    if (key == "training.initializer")
      options.when(plan.network.ours(), {key}, "the network is your own");
  }
}

}  // namespace

std::vector<std::string> void_options(const PlannedTraining& plan) {
  VoidOptions options(plan.recipe);
  of_schedule(plan.recipe.schedule, options);
  of_optimizer(plan, options);
  of_parameters(plan, options);
  of_training(plan, options);
  of_images(plan, options);
  if (!plan.own_loss) of_loss(plan, options);
  of_own(plan, options);
  return options.take();
}

}  // namespace facebench
