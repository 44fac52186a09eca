#include "facebench/training/internal/training_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <stdexcept>

#include "facebench/nn/network.h"
#include "facebench/training/schedule.h"

namespace facebench {
namespace {

// Batches that are looked through for triplets: those of a sound plan nearly all hold some.
constexpr std::int64_t kBatchesTried = 200;
// Of fewer the loss is mostly the noise of single batches.
constexpr std::int64_t kStepsToJudge = 20;

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

std::map<std::int64_t, std::int64_t> images_by_class(const TrainingClasses& classes) {
  std::map<std::int64_t, std::int64_t> count;
  for (const std::int64_t s : classes.samples) ++count[classes.labels[static_cast<std::size_t>(s)]];
  return count;
}

// "a batch of 8 is shared by 2 processes in 4 micro-batches"
std::string sharing(std::int64_t batch, const PlannedTraining& plan) {
  std::string text = fmt::format("a batch holds {} image{}", batch, batch == 1 ? "" : "s");
  if (plan.processes > 1) text += fmt::format(", shared by {} processes", plan.processes);
  if (plan.recipe.training.accumulate > 1)
    text += fmt::format(", in {} micro-batches (accumulate)", plan.recipe.training.accumulate);
  return text;
}

// A batch norm that is left with one number for each channel: its name, else empty.
std::string norm_of_one_position(TrainedNetwork& network) {
  if (const Network* ours = network.ours())
    for (const Node& node : ours->graph().nodes())
      if (node.op == Op::batch_norm && element_count(node.shape) == node.shape.front())
        return node.name;
  return {};
}

void check_batches(const PlannedTraining& plan) {
  const TrainingOptions& t = plan.recipe.training;
  const std::int64_t parts = plan.processes * t.accumulate;
  if (t.batch < parts)
    refuse(fmt::format("a batch of {} cannot be shared by {} processes with {} micro-batches each",
                       t.batch, plan.processes, t.accumulate));
  const auto images = static_cast<std::int64_t>(plan.classes.samples.size());
  const std::int64_t left = t.sampler == "shuffle" && t.last_batch == "keep" ? images % t.batch : 0;
  if (left > 0 && left < parts)
    refuse(
        fmt::format("the last batch of an epoch would hold {} images for {} parts; use another "
                    "batch size, or wrap or drop the last batch",
                    left, parts));
  const std::string norm = norm_of_one_position(plan.network);
  // A network of the caller's is not known; its own batch norm refuses the first step, but a last
  // batch only after an epoch.
  const bool unknown = plan.network.ours() == nullptr;
  if (left > 0 && left < 2 * parts && (unknown || !norm.empty()))
    refuse(
        fmt::format("the last batch of an epoch would hold {}, and batch norm has no variance of "
                    "one image; use another batch size, or wrap or drop the last batch",
                    left == 1 ? "one image" : fmt::format("{} images for {} parts", left, parts)));
  if (t.batch < 2 * parts && !norm.empty())
    refuse(fmt::format(
        "batch norm '{}' has one number for each channel, and no variance of one image: {}. Use a "
        "batch of {} or more{}",
        norm, sharing(t.batch, plan), 2 * parts,
        t.accumulate > 1 ? fmt::format(", or an accumulate of {} or less",
                                       std::max<std::int64_t>(1, t.batch / (2 * plan.processes)))
                         : std::string()));
}

// Whether the images of these slots, each once, are two of one person and one of another.
bool holds_triplet(std::span<const Sampler::Slot> slots, const TrainingClasses& classes) {
  std::set<std::int64_t> seen, labels;
  bool pair = false;
  for (const Sampler::Slot& slot : slots)
    if (seen.insert(slot.sample).second)
      pair |= !labels.insert(classes.labels[static_cast<std::size_t>(slot.sample)]).second;
  return pair && labels.size() > 1;
}

// Micro-batch by micro-batch, as Learner::step takes them from all processes.
bool step_holds_triplet(const std::vector<Sampler::Slot>& slots, const PlannedTraining& plan) {
  const auto n = static_cast<std::int64_t>(slots.size());
  const std::int64_t parts = plan.recipe.training.accumulate;
  for (std::int64_t part = 0; part < parts; ++part) {
    std::vector<Sampler::Slot> together;
    for (std::int64_t rank = 0; rank < plan.processes; ++rank) {
      const std::int64_t own = (n - rank + plan.processes - 1) / plan.processes;
      for (std::int64_t i = own * part / parts; i < own * (part + 1) / parts; ++i)
        together.push_back(slots[static_cast<std::size_t>(rank + i * plan.processes)]);
    }
    if (holds_triplet(together, plan.classes)) return true;
  }
  return false;
}

void check_triplets(const PlannedTraining& plan, std::vector<std::string>& notes) {
  const auto people = images_by_class(plan.classes);
  if (std::ranges::all_of(people, [](const auto& p) { return p.second < 2; }))
    refuse(
        fmt::format("loss triplet: each of the {} people has one image, so that no batch holds "
                    "a pair; give people with several images, or choose a loss with classes "
                    "(softmax, cosface, arcface)",
                    people.size()));
  const std::int64_t tried = std::min(plan.iterations, kBatchesTried);
  std::int64_t with = 0;
  for (std::int64_t i = 0; i < tried; ++i) with += step_holds_triplet(plan.sampler.batch(i), plan);
  const TrainingOptions& t = plan.recipe.training;
  const std::string advice =
      "Use sampler = people (or balanced) with images_per_person of 2 or "
      "more, and batches and micro-batches of several people";
  if (with == 0)
    refuse(
        fmt::format("loss triplet: none of the first {} batches holds two images of one person "
                    "and one of another ({}; sampler {}). {}",
                    tried, sharing(t.batch, plan), t.sampler, advice));
  if (2 * with < tried)
    notes.push_back(
        fmt::format("loss triplet: {} of the first {} batches hold no triplet, and "
                    "nothing is learned in such a step. {}.",
                    tried - with, tried, advice));
}

void check_balance(const PlannedTraining& plan, std::vector<std::string>& notes) {
  const TrainingOptions& t = plan.recipe.training;
  if (t.sampler != "balanced") return;
  const auto people = images_by_class(plan.classes);
  const auto few =
      std::ranges::count_if(people, [&](const auto& p) { return p.second < t.images_per_person; });
  if (few > 0)
    notes.push_back(fmt::format(
        "sampler balanced: {} of {} people have fewer than {} images; a batch holds some of "
        "theirs more than once. Lower images_per_person, or leave these people out.",
        few, people.size(), t.images_per_person));
}

void check_rates(const PlannedTraining& plan, std::vector<std::string>& notes) {
  const ScheduleOptions& s = plan.recipe.schedule;
  const double unit = s.unit == "epochs" ? plan.sampler.iterations_per_epoch() : 1;
  const double last = static_cast<double>(plan.iterations - 1) / unit;
  const std::string length = fmt::format("the training ends after {:.4g} {}",
                                         static_cast<double>(plan.iterations) / unit, s.unit);
  const auto rate = [&](std::int64_t i) {
    return learning_rate(plan.recipe.optimizer.lr, s,
                         {i, plan.iterations, plan.sampler.iterations_per_epoch()});
  };
  std::int64_t moving = plan.iterations;  // the steps up to the last whose rate is not 0
  while (moving > 0 && rate(moving - 1) == 0) --moving;
  if (moving == 0)
    notes.push_back(
        "the learning rate is 0 in every step, so that no weight is changed. Set "
        "optimizer.lr.");
  else if (moving < plan.iterations)
    notes.push_back(
        fmt::format("the learning rate is 0 from step {} of {} on, so that no weight "
                    "is changed there. Check schedule.gamma and schedule.final_lr.",
                    moving + 1, plan.iterations));
  if (s.warmup > 0 && last < s.warmup && moving > 0)
    notes.push_back(
        fmt::format("the warm-up takes {:.4g} {}, and {}: the rate ends at {:.3g} and "
                    "does not reach {:.3g}. Shorten schedule.warmup.",
                    s.warmup, s.unit, length, rate(plan.iterations - 1), plan.recipe.optimizer.lr));
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
}

// SphereFace's lambda falls with the steps; until it has, the margin hardly counts.
void check_annealing(const PlannedTraining& plan, std::vector<std::string>& notes) {
  if (plan.recipe.loss != "sphereface") return;
  const Json& o = plan.head.options();
  const auto option = [&](const char* name) { return o.at(name).get<double>(); };
  const double least = option("lambda_min");
  const double lambda = std::max(
      least,
      option("lambda_base") *
          std::pow(1 + option("gamma") * static_cast<double>(plan.iterations), -option("power")));
  if (1 + lambda > 2 * (1 + least))
    notes.push_back(fmt::format(
        "sphereface: lambda is {:.4g} in the last step of {} and would go on to {:.4g}; the margin "
        "weighs {:.2g} % of the logit at most. Train longer, or raise loss.gamma.",
        lambda, plan.iterations, least, 100 / (1 + lambda)));
}

}  // namespace

std::vector<std::string> check_plan(const PlannedTraining& plan) {
  std::vector<std::string> notes;
  check_batches(plan);
  if (plan.network.parameters().empty())
    notes.push_back(
        "the network has no parameter that requires a gradient: only the loss's own "
        "weights are trained. Set requires_grad of what is to be learned.");
  if (!plan.own_loss) {
    if (plan.recipe.loss == "triplet") check_triplets(plan, notes);
    check_annealing(plan, notes);
  }
  check_balance(plan, notes);
  check_rates(plan, notes);
  return notes;
}

std::vector<std::string> signs_of_no_learning(const PlannedTraining& plan,
                                              const TrainingCourse& course) {
  if (!course.ever_a_loss)
    return {
        "the loss was exactly 0 in every step: nothing was learned. Check that batches hold "
        "what the loss compares, and the loss's margin."};
  if (course.gradient_norm == 0.0 && course.last_loss != 0)
    return {
        fmt::format("the gradient of the last step is exactly 0 at a loss of {:.4g}: nothing "
                    "is learned any more. Check initial weights, learning rate and input.",
                    course.last_loss)};
  if (!course.first_loss || plan.iterations < kStepsToJudge) return {};
  // Guessing: always the person with the most images; of a softmax every person by his share.
  const auto all = static_cast<double>(plan.classes.samples.size());
  double chance = 0, entropy = 0;
  for (const auto& [label, images] : images_by_class(plan.classes)) {
    const double share = static_cast<double>(images) / all;
    chance = std::max(chance, share);
    entropy -= share * std::log(share);
  }
  const bool softmax = !plan.own_loss && plan.recipe.loss == "softmax";
  const double start = softmax ? std::min(*course.first_loss, entropy) : *course.first_loss;
  const double noise = 2 * std::sqrt(chance * (1 - chance) /
                                     std::max<double>(1, static_cast<double>(course.last_images)));
  if (course.last_loss < 0.99 * start) return {};
  if (course.last_accuracy && *course.last_accuracy > chance + noise) return {};
  std::string what =
      fmt::format("nothing was learned: the loss began at {:.4g} and ended at {:.4g}",
                  *course.first_loss, course.last_loss);
  if (softmax) what += fmt::format(" (guessing gives {:.4g})", entropy);
  if (course.last_accuracy)
    what += fmt::format(
        ", and {:.3g} % of the training images are told rightly, as many as by guessing",
        100 * *course.last_accuracy);
  return {what + ". Check the labels, the learning rate and the batch, or train longer."};
}

}  // namespace facebench
