#include "facebench/training/batch_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace facebench {
namespace {

// Goyal et al. warm up over 5 of 90 epochs.
constexpr double kWarmupEpochs = 5, kTheirEpochs = 90;

// The training's length in the schedule's unit, where the recipe says it.
std::optional<double> length_of(const Recipe& recipe) {
  const TrainingOptions& t = recipe.training;
  if (recipe.schedule.unit == "iterations")
    return t.iterations > 0 ? std::optional(static_cast<double>(t.iterations)) : std::nullopt;
  return t.iterations == 0 ? std::optional(static_cast<double>(t.epochs)) : std::nullopt;
}

// Schedules whose lengths are a share of the whole say nothing in a unit, until they warm up.
bool has_no_lengths(const ScheduleOptions& s) {
  return s.warmup == 0 &&
         (s.policy == "constant" || s.policy == "polynomial" || s.policy == "cosine");
}

void keep_epochs(Recipe& recipe, double k) {
  TrainingOptions& t = recipe.training;
  ScheduleOptions& s = recipe.schedule;
  if (t.iterations > 0)
    t.iterations = std::max<std::int64_t>(1, std::llround(static_cast<double>(t.iterations) / k));
  if (recipe.loss == "sphereface" && recipe.loss_options.contains("gamma"))
    recipe.loss_options["gamma"] = recipe.loss_options["gamma"].get<double>() * k;
  if (s.unit != "iterations") return;
  s.step = std::max(s.step / k, 1e-9);
  for (double& milestone : s.milestones) milestone = std::round(milestone / k);
  s.warmup = std::round(s.warmup / k);
  if (s.policy == "inverse") s.gamma = std::min(1.0, s.gamma * k);
  if (s.policy == "exponential") s.gamma = std::pow(s.gamma, k);
}

// What is said of it.
std::string warm_up(Recipe& recipe, double k) {
  ScheduleOptions& s = recipe.schedule;
  if (k <= 1) return "no warm-up is added, since the rate falls";
  if (has_no_lengths(s)) s.unit = recipe.training.iterations > 0 ? "iterations" : "epochs";
  std::optional<double> length = length_of(recipe);
  double warmup = length ? *length * kWarmupEpochs / kTheirEpochs : kWarmupEpochs;
  if (s.unit == "epochs")
    warmup = std::min(warmup, kWarmupEpochs);
  else if (!length)
    return "no warm-up is added: the schedule counts iterations and the training epochs, so set "
           "schedule.warmup";
  else
    warmup = std::max(1.0, std::round(warmup));
  s.warmup_start = (s.warmup > 0 ? s.warmup_start : 1) / k;
  s.warmup = std::max(s.warmup, warmup);
  return fmt::format("it warms up from {:.4g} over the first {:.3g} {}",
                     recipe.optimizer.lr * s.warmup_start, s.warmup, s.unit);
}

}  // namespace

std::string scale_batch(Recipe& recipe, std::int64_t batch) {
  const std::int64_t from = recipe.training.batch;
  if (batch < 1) throw std::invalid_argument("batch: a batch holds one image or more");
  if (recipe.optimizer.is_adam())
    throw std::invalid_argument(
        fmt::format("recipe {}: the linear rule is that of sgd, and its optimizer is {}. Set "
                    "training.batch and optimizer.lr (--set batch={} --set lr=...)",
                    recipe.id, recipe.optimizer.name, batch));
  if (batch == from) return {};
  Recipe changed = recipe;
  const double k = static_cast<double>(batch) / static_cast<double>(from);
  const double rate = recipe.optimizer.lr;
  changed.training.batch = batch;
  changed.optimizer.lr = rate * k;
  changed.schedule.final_lr *= k;
  keep_epochs(changed, k);
  const std::string warmed = warm_up(changed, k);
  const std::string sentence = fmt::format(
      "the batch is {} in place of the recipe's {}: by the linear rule (Goyal et al. 2017) the "
      "rate "
      "is {:.4g} in place of {:.4g}; {}.",
      batch, from, changed.optimizer.lr, rate, warmed);
  changed.batch_scaling = {{"rule", "linear"},
                           {"batch", {from, batch}},
                           {"lr", {rate, changed.optimizer.lr}},
                           {"said", sentence}};
  recipe = std::move(changed);
  return sentence;
}

}  // namespace facebench
