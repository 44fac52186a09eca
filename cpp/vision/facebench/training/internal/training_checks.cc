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
#include "facebench/training/internal/value_checks.h"
#include "facebench/training/internal/void_options.h"

namespace facebench {
namespace {

// Batches that are looked through for triplets: those of a sound plan nearly all hold some.
constexpr std::int64_t kBatchesTried = 200;
// Of fewer the loss is mostly the noise of single batches.
constexpr std::int64_t kStepsToJudge = 20;
// Of the features of a batch, relative to their length: the noise of float32.
constexpr double kLeastSpread = 1e-6;
// By how much of their length the first steps move weights that can learn.
constexpr double kLeastMoved = 1e-7;

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

bool is_batch_norm(const Node& node) { return node.op == Op::batch_norm; }

// A batch norm that is left with one number for each channel: its name, else empty.
std::string norm_of_one_position(TrainedNetwork& network) {
  if (const Network* ours = network.ours())
    for (const Node& node : ours->graph().nodes())
      if (is_batch_norm(node) && element_count(node.shape) == node.shape.front()) return node.name;
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
  const Json& options = plan.head.options();
  if (options.at("margin") == 0 && options.at("negatives") == "semi_hard")
    refuse(
        "loss triplet: with margin = 0 no negative is semi-hard (farther than the positive, by "
        "less than the margin), so that nothing is learned. The usual margin is 0.2");
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

void check_people(const PlannedTraining& plan, std::vector<std::string>& notes) {
  const auto people = images_by_class(plan.classes);
  if (std::ranges::all_of(people, [](const auto& p) { return p.second < 2; }))
    notes.push_back(
        fmt::format("each of the {} people has one image: what stays the same from one photograph "
                    "of a person to the next cannot be learned. Check the labels.",
                    people.size()));
}

// SphereFace's lambda falls with the steps; until it has, the margin hardly counts.
void check_annealing(const PlannedTraining& plan, std::vector<std::string>& notes) {
  if (plan.recipe.loss != "sphereface") return;
  const Json& o = plan.head.options();
  const auto option = [&](const char* name) { return o.at(name).get<double>(); };
  if (option("m") == 1) return;  // no margin, whatever lambda is
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

std::string sign_of_losses(const PlannedTraining& plan, const TrainingCourse& course) {
  if (!course.ever_a_loss)
    return "the loss was exactly 0 in every step: nothing was learned. Check that batches hold "
           "what the loss compares, and the loss's margin.";
  if (course.gradient_norm == 0.0 && course.last_loss != 0)
    return fmt::format(
        "the gradient of the last step is exactly 0 at a loss of {:.4g}: nothing is learned any "
        "more. Check initial weights, learning rate and input.",
        course.last_loss);
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
  return what + ". Check the labels, the learning rate and the batch, or train longer.";
}

}  // namespace

bool has_batch_norm(TrainedNetwork& network) {
  return network.ours() && std::ranges::any_of(network.ours()->graph().nodes(), is_batch_norm);
}

std::vector<std::string> check_plan(const PlannedTraining& plan) {
  std::vector<std::string> notes;
  check_batches(plan);
  if (plan.network.parameters().empty() && plan.recipe.training.freeze.empty())
    notes.push_back(
        "the network has no parameter that requires a gradient: only the loss's own "
        "weights are trained. Set requires_grad of what is to be learned.");
  if (!plan.own_loss) {
    if (plan.recipe.loss == "triplet") check_triplets(plan, notes);
    check_annealing(plan, notes);
  }
  check_balance(plan, notes);
  check_people(plan, notes);
  for (auto* const more : {&odd_values, &void_options}) {
    const std::vector<std::string> sentences = more(plan);
    notes.insert(notes.end(), sentences.begin(), sentences.end());
  }
  return notes;
}

std::string sign_of_stillness(const PlannedTraining& plan, double moved, std::int64_t steps,
                              double rate) {
  if (!(moved < kLeastMoved) || plan.recipe.optimizer.lr == 0) return {};
  const OptimizerOptions& o = plan.recipe.optimizer;
  std::string set = fmt::format("a rate of {:.3g}", rate);
  if (o.clip_norm > 0) set += fmt::format(", clip_norm = {:.3g}", o.clip_norm);
  if (o.is_adam()) set += fmt::format(", eps = {:.3g}", o.eps);
  return fmt::format(
      "after {} step{} the weights have moved by {:.2g} of their length ({}), so that nothing is "
      "learned. Raise optimizer.lr, or check what the loss compares.",
      steps, steps == 1 ? "" : "s", moved, set);
}

std::vector<std::string> signs_of_no_learning(const PlannedTraining& plan,
                                              const TrainingCourse& course) {
  std::vector<std::string> signs;
  if (course.feature_spread && *course.feature_spread < kLeastSpread)
    signs.push_back(
        "all images of the last batch have the same embedding: the network tells nobody apart. "
        "Check learning rate, weight decay, the input's mean and std, and the images.");
  if (std::string sign = sign_of_losses(plan, course); !sign.empty()) signs.push_back(sign);
  return signs;
}

}  // namespace facebench
