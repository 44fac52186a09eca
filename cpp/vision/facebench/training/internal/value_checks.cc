#include "facebench/training/internal/value_checks.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "facebench/nn/internal/aten.h"
#include "facebench/nn/losses.h"
#include "facebench/training/schedule.h"

namespace facebench {
namespace {

using Notes = std::vector<std::string>;

// A rate of less than this share of the first one hardly changes a weight.
constexpr double kHardly = 1e-6;
// Of a training of any length; a cosine's end alone has rates that are as low.
constexpr double kLongPart = 0.1;
// The share of the first weights, or of the statistics before them, that an average still is.
constexpr double kMostLeft = 0.1;
// What a step may take off every weight: after ten a tenth is left.
constexpr double kMostDecay = 0.2;
// By how much of its size all steps together may at least move the weights.
constexpr double kLeastMove = 1e-5;
// Beyond it a softmax of cosines is 0 or 1: a difference of .01 is a factor of 22,000.
constexpr double kLargestScale = 1000;
// Of input: 255 / .5 is common, 255 / .229 is made for pixels in 0..1.
constexpr double kLargestInput = 512, kLeastRange = 0.02;

class Rates {
 public:
  explicit Rates(const PlannedTraining& plan)
      : plan_(plan), per_epoch_(plan.sampler.iterations_per_epoch()) {
    // Of a long training some of the steps, spread evenly.
    const std::int64_t looked_at = std::min<std::int64_t>(plan.iterations, 2000);
    for (std::int64_t k = 0; k < looked_at; ++k)
      rates_.push_back(at(k * plan.iterations / looked_at));
  }

  double at(std::int64_t iteration) const {
    return learning_rate(plan_.recipe.optimizer.lr, plan_.recipe.schedule,
                         {iteration, plan_.iterations, per_epoch_});
  }
  double highest() const { return std::ranges::max(rates_); }
  double sum() const {
    double sum = 0;
    for (const double rate : rates_) sum += rate;
    return sum / static_cast<double>(rates_.size()) * static_cast<double>(plan_.iterations);
  }
  // The share of the steps with a lower rate.
  double share_below(double rate) const {
    return static_cast<double>(std::ranges::count_if(rates_, [&](double r) { return r < rate; })) /
           static_cast<double>(rates_.size());
  }

 private:
  const PlannedTraining& plan_;
  double per_epoch_;
  std::vector<double> rates_;
};

void check_zero_rates(const PlannedTraining& plan, const Rates& rates, Notes& notes) {
  std::int64_t moving = plan.iterations;  // the steps up to the last whose rate is not 0
  while (moving > 0 && rates.at(moving - 1) == 0) --moving;
  if (moving == 0) {
    notes.push_back(
        "the learning rate is 0 in every step, so that no weight is changed. Set optimizer.lr.");
  } else if (moving < plan.iterations) {
    notes.push_back(
        fmt::format("the learning rate is 0 from step {} of {} on, so that no weight is changed "
                    "there. Check schedule.gamma and schedule.final_lr.",
                    moving + 1, plan.iterations));
  } else if (const double share = rates.share_below(kHardly * plan.recipe.optimizer.lr);
             share > kLongPart) {
    notes.push_back(fmt::format(
        "in {:.0f} % of the {} steps the learning rate is below a millionth of optimizer.lr = "
        "{:.3g} (in the last {:.3g}): hardly a weight is changed there. Check schedule.gamma, "
        "schedule.power and schedule.unit.",
        100 * share, plan.iterations, plan.recipe.optimizer.lr, rates.at(plan.iterations - 1)));
  }
}

void check_schedule(const PlannedTraining& plan, const Rates& rates, Notes& notes) {
  const ScheduleOptions& s = plan.recipe.schedule;
  const double per_epoch = plan.sampler.iterations_per_epoch();
  const double unit = s.unit == "epochs" ? per_epoch : 1;
  const double last = static_cast<double>(plan.iterations - 1) / unit;
  const std::string length = fmt::format("the training ends after {:.4g} {}",
                                         static_cast<double>(plan.iterations) / unit, s.unit);
  if (s.warmup > 0 && last < s.warmup && plan.recipe.optimizer.lr > 0)
    notes.push_back(fmt::format(
        "the warm-up takes {:.4g} {}, and {}: the rate ends at {:.3g} and "
        "does not reach {:.3g}. Shorten schedule.warmup.",
        s.warmup, s.unit, length, rates.at(plan.iterations - 1), plan.recipe.optimizer.lr));
  std::vector<double> late;
  if (s.policy == "multistep")
    std::ranges::copy_if(s.milestones, std::back_inserter(late),
                         [&](double milestone) { return milestone > last; });
  if (s.policy == "step" && s.step > last && plan.iterations > 1) late.push_back(s.step);
  if (!late.empty())
    notes.push_back(fmt::format(
        "the rate would fall at {:.6g} {}, and {}: it does not fall there. "
        "Check schedule.{} and schedule.unit.",
        fmt::join(late, ", "), s.unit, length, s.policy == "step" ? "step" : "milestones"));
  if (s.policy == "multistep" && !s.milestones.empty() &&
      static_cast<double>(plan.iterations) >= 2 * per_epoch &&
      std::ranges::max(s.milestones) * unit < per_epoch)
    notes.push_back(fmt::format(
        "all milestones ({:.6g} {}) lie in the first epoch of {:.4g} steps: in all others the rate "
        "is {:.3g}. Check schedule.milestones and schedule.unit.",
        fmt::join(s.milestones, ", "), s.unit, per_epoch, rates.at(plan.iterations - 1)));
  if ((s.policy == "cosine" || s.policy == "polynomial") && s.final_lr > plan.recipe.optimizer.lr)
    notes.push_back(
        fmt::format("the rate rises from optimizer.lr = {:.3g} to schedule.final_lr = {:.3g}. "
                    "Exchange them, if it is to fall.",
                    plan.recipe.optimizer.lr, s.final_lr));
}

double norm_of_weights(const PlannedTraining& plan) {
  const at::NoGradGuard no_grad;
  double square = 0;
  for (const TrainedParameter& p : plan.network.parameters())
    square += std::pow(p.tensor.norm().item<double>(), 2);
  return std::sqrt(square);
}

void check_optimizer_values(const PlannedTraining& plan, const Rates& rates, Notes& notes) {
  const OptimizerOptions& o = plan.recipe.optimizer;
  // The steps that one gradient's share in the momentum adds up to.
  const auto steps = static_cast<double>(plan.iterations);
  const double kept = o.is_adam() ? 1 : std::min(1 / (1 - o.momentum), steps);
  if (!o.is_adam() && o.momentum >= 1) {
    notes.push_back(
        fmt::format("optimizer.momentum = {:.6g} keeps all gradients for ever: weights swing and "
                    "do not settle. Set it below 1, as 0.9.",
                    o.momentum));
    return;
  }
  if (!o.is_adam() && 1 / (1 - o.momentum) > std::max(100.0, steps))
    notes.push_back(fmt::format(
        "optimizer.momentum = {:.6g} is a mean over {:.4g} steps, and the training has {}. Lower "
        "it, as to 0.9.",
        o.momentum, 1 / (1 - o.momentum), plan.iterations));
  const double highest = rates.highest();
  if (const double decay = highest * o.weight_decay * kept; o.name != "adam" && decay > kMostDecay)
    notes.push_back(fmt::format(
        "optimizer.weight_decay = {:.4g} at a rate of {:.3g}{} takes {:.3g} % off every weight in "
        "each step, whatever the images are, and holds them near 0. Lower it, as to 0.0005.",
        o.weight_decay, highest,
        kept > 1 ? fmt::format(" and a momentum of {:.4g}", o.momentum) : "", 100 * decay));
  if (o.clip_norm > 0 && !o.is_adam() && !plan.network.parameters().empty()) {
    const double most = rates.sum() * kept * o.clip_norm, size = norm_of_weights(plan);
    if (highest > 0 && most < kLeastMove * size)
      notes.push_back(fmt::format(
          "optimizer.clip_norm = {:.3g} lets all {} steps together move the weights by {:.2g} of "
          "their size at most, so that nothing is learned. Raise it, or set it to 0 (no clipping).",
          o.clip_norm, plan.iterations, most / size));
  }
}

void check_averages(const PlannedTraining& plan, Notes& notes) {
  const TrainingOptions& t = plan.recipe.training;
  const auto steps = static_cast<double>(plan.iterations);
  if (const double left = std::pow(t.ema, steps - 1); t.ema > 0 && left > kMostLeft && steps > 1)
    notes.push_back(fmt::format(
        "training.ema = {:.6g}: after {} steps {:.3g} % of the model is still the weights behind "
        "the first. Lower it, train longer, or set it to 0.",
        t.ema, plan.iterations, 100 * left));
  if (t.batch_norm_decay && t.batch_norm_average == "moving" && has_batch_norm(plan.network)) {
    const double passes = steps * static_cast<double>(t.accumulate);
    if (const double left = std::pow(*t.batch_norm_decay, passes); left > kMostLeft)
      notes.push_back(fmt::format(
          "training.batch_norm_decay = {:.6g}: after {} steps {:.3g} % of batch norm's statistics "
          "are still the 0 and 1 that they began with. Lower it, train longer, or set "
          "batch_norm_average = corrected.",
          *t.batch_norm_decay, plan.iterations, 100 * left));
  }
  const std::int64_t epochs = plan.sampler.epoch(plan.iterations - 1) + 1;
  if (t.patience >= epochs)
    notes.push_back(fmt::format("training.patience = {} stops no training of {} epoch{}. Lower it.",
                                t.patience, epochs, epochs == 1 ? "" : "s"));
}

void check_input(const PlannedTraining& plan, Notes& notes) {
  const InputOptions& i = plan.recipe.input;
  double low = 0, high = 0, least = 1e300;
  for (std::size_t c = 0; c < std::max(i.mean.size(), i.std.size()); ++c) {
    const double mean = i.mean[std::min(c, i.mean.size() - 1)];
    const double std = i.std[std::min(c, i.std.size() - 1)];
    low = std::min(low, -mean / std);
    high = std::max(high, (255 - mean) / std);
    least = std::min(least, 255 / std);
  }
  const std::string now = fmt::format("input.mean = {:.4g} and input.std = {:.4g}",
                                      fmt::join(i.mean, ", "), fmt::join(i.std, ", "));
  if (std::max(-low, high) > kLargestInput)
    notes.push_back(fmt::format(
        "{} make the pixels 0..255 numbers of {:.4g} to {:.4g}. Those that are made for "
        "pixels of 0..1 are multiplied by 255.",
        now, low, high));
  else if (least < kLeastRange)
    notes.push_back(fmt::format(
        "{} leave {:.2g} between black and white: all images are nearly the same. Check input.std.",
        now, least));
}

void check_augmentation_values(const PlannedTraining& plan, Notes& notes) {
  const AugmentationOptions& a = plan.recipe.augmentation;
  const ImageShape size = plan.network.input_view().input();
  if (2 * a.shift > std::min(size.height, size.width))
    notes.push_back(
        fmt::format("augmentation.shift = {} moves images of {}x{} by more than half of their "
                    "side, and the face out of them. Lower it.",
                    a.shift, size.height, size.width));
  if (a.flip == 1)
    notes.push_back(
        "augmentation.flip = 1 mirrors every image: the network never sees one as it is. The usual "
        "value is 0.5.");
  const bool areas = a.view == "random_resized_crop" || a.view == "distorted_box";
  if (areas && a.area[1] < 0.05)
    notes.push_back(
        fmt::format("augmentation.area = {:.3g} to {:.3g}: {:.3g} % of an image are seen at most. "
                    "The usual values are 0.08 and 1.",
                    a.area[0], a.area[1], 100 * a.area[1]));
}

// The options of a loss that are numbers: "s = 64, m = 0.5".
std::string numbers_of(const Json& options) {
  std::string text;
  for (const auto& [name, value] : options.items())
    if (value.is_number())
      text += fmt::format("{}{} = {:.4g}", text.empty() ? "" : ", ", name, value.get<double>());
  return text;
}

// How far the true class's logit, its margin taken off, is above the others where features and
// class weights lie as well as they can: people as far apart as `classes` directions can be.
double best_gap(const PlannedTraining& plan) {
  const at::NoGradGuard no_grad;
  const std::int64_t people = std::min<std::int64_t>(plan.classes.count, 8);
  const Json& options = plan.head.options();
  const auto head = make_head(plan.recipe.loss, options, {people, people, 0, at::kDouble});
  const at::Tensor eye =
      at::one_hot(at::arange(people, at::TensorOptions(at::kLong)), people).to(at::kDouble);
  // Of more people than dimensions no angle is larger than a right one for all.
  const at::Tensor directions =
      plan.classes.count <= 8 ? eye - 1 / static_cast<double>(people) : eye;
  const at::Tensor unit = directions / directions.norm(2, {1}, /*keepdim=*/true);
  const at::Tensor weight = head->class_weight();
  at::Tensor(weight).copy_(unit.repeat_interleave(weight.size(0) / people, 0));
  // AdaFace's and MagFace's margins go by the length.
  const double length = options.contains("l_a") ? options["l_a"].get<double>() : 20;
  head->train(false);
  head->observe(true);
  const Head::Output out =
      head->loss(unit * length, at::arange(people, at::TensorOptions(at::kLong)));
  return (out.target - out.highest).mean().item<double>();
}

void check_margin(const PlannedTraining& plan, Notes& notes) {
  const std::string& loss = plan.recipe.loss;
  const Json& options = plan.head.options();
  const auto people = static_cast<double>(plan.classes.count);
  if (loss == "triplet") {
    const auto margin = options.at("margin").get<double>();
    if (margin == 0)
      notes.push_back(
          "loss triplet: with margin = 0 a network that gives all images the same embedding is "
          "finished. The usual margin is 0.2.");
    else if (margin > 2 * people / (people - 1))
      notes.push_back(
          fmt::format("loss triplet: margin = {:.4g} is more than {:.4g}, the largest squared "
                      "distance that all "
                      "{} people can have from each other. The usual margin is 0.2.",
                      margin, 2 * people / (people - 1), plan.classes.count));
    return;
  }
  if (!options.contains("s") || !plan.head.class_weight().defined()) return;
  const double log_odds = best_gap(plan) - std::log(people - 1);
  const double best = 1 / (1 + std::exp(-log_odds));
  if (best < 0.5)
    notes.push_back(fmt::format(
        "loss {}: with {} the true one of {} people has a probability of {:.2g} at most, where "
        "features and class weights agree exactly: nothing makes the loss small. The usual scale "
        "is 30 to 64, the usual margin below 1.",
        loss, numbers_of(options), plan.classes.count, best));
  if (options["s"].get<double>() > kLargestScale)
    notes.push_back(fmt::format(
        "loss {}: with s = {:.4g} probabilities are 0 or 1, whatever the angle, and gradients are "
        "as large as s. The usual scale is 30 to 64.",
        loss, options["s"].get<double>()));
}

}  // namespace

std::vector<std::string> odd_values(const PlannedTraining& plan) {
  Notes notes;
  const Rates rates(plan);
  check_zero_rates(plan, rates, notes);
  check_schedule(plan, rates, notes);
  check_optimizer_values(plan, rates, notes);
  check_averages(plan, notes);
  check_input(plan, notes);
  check_augmentation_values(plan, notes);
  if (!plan.own_loss) check_margin(plan, notes);
  return notes;
}

}  // namespace facebench
