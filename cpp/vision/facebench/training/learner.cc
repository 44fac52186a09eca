#include "facebench/training/learner.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "facebench/core/random.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/losses.h"
#include "facebench/training/internal/arithmetic.h"
#include "facebench/training/internal/head_buffers.h"
#include "facebench/training/internal/observed_images.h"
#include "facebench/training/internal/sum_gradients.h"
#include "facebench/training/internal/weight_average.h"

namespace facebench {
namespace {

const std::string network_prefix = "network.";

// The share of a new batch in batch norm's running statistics in forward pass number `pass`,
// from 1. Caffe keeps sums of the batches' statistics that fade by `decay`, and divides them by the
// sum of the weights, 1 + decay + ... + decay^(pass - 1) (batch_norm_layer.cpp); as an average that
// moves, that is a share of 1 / that sum.
std::optional<double> batch_norm_share(const TrainingOptions& o, std::int64_t pass) {
  if (!o.batch_norm_decay) return std::nullopt;
  const double d = *o.batch_norm_decay;
  if (o.batch_norm_average == "moving") return 1 - d;
  return (1 - d) / (1 - std::pow(d, static_cast<double>(pass)));
}

// In place, so that references to the tensor stay valid.
void move_to(const at::Tensor& tensor, at::Device device) {
  at::Tensor shared = tensor;
  shared.set_data(shared.detach().to(device));
}

}  // namespace

Learner::Learner(const Recipe& recipe, const ModelOptions& options, const ImageShape& shape,
                 std::int64_t classes, at::Device device, Communicator& communicator,
                 const OwnMakers& makers)
    : recipe_(recipe),
      communicator_(communicator),
      network_((makers.network ? makers.network : make_recipe_network)(recipe, options, shape)),
      foreign_(makers.network || makers.head),
      buffers_(std::make_unique<HeadBuffers>()) {
  if (recipe.training.batch_norm_average == "corrected" && !recipe.training.batch_norm_decay)
    throw std::invalid_argument(
        "batch_norm_average is 'corrected', which needs a batch_norm_decay (Caffe's is 0.999)");
  const at::ScalarType dtype = precision_of(recipe.training.dtype).weights;
  const std::uint64_t seed = recipe.training.seed;
  if (const FreezePatterns frozen(recipe.training.freeze); !frozen.empty())
    network_->freeze(frozen);
  network_->to(device, dtype, recipe.training.channels_last);
  if (makers.first)
    taken_ = take_weights(*network_, makers.network ? "" : recipe.network, *makers.first);
  const std::vector<TrainedNetwork::Output>& outputs = network_->outputs();
  const HeadShape head{outputs.front().features,
                       classes,
                       seed,
                       dtype,
                       &communicator,
                       recipe.training.split_classes,
                       recipe.training.sample_rate};
  head_ = makers.head ? makers.head(head) : make_head(recipe.loss, recipe.loss_options, head);
  if (outputs.size() > 1)
    auxiliary_weight_ =
        recipe.training.aux_weight.value_or(networks().at(recipe.network).aux_weight);
  Json softmax = Json::object();  // auxiliary heads start as the main classifier does
  if (recipe.loss_options.contains("init")) softmax["init"] = recipe.loss_options["init"];
  for (std::size_t i = 1; i < outputs.size(); ++i)
    // Each head's weights are a random stream of their own.
    auxiliary_.push_back({outputs[i].name, make_head("softmax", softmax,
                                                     {outputs[i].features, classes,
                                                      seed + ((i + 1) << 32), dtype})});

  std::vector<TrainedParameter> trained = network_->parameters();
  for (TrainedParameter& p : trained) {
    // What begins with fresh values learns at the whole rate.
    if (!taken_ || std::ranges::binary_search(taken_->taken, p.name))
      p.lr_scale = recipe.optimizer.backbone_lr_scale;
    p.of_network = true;
    p.name = network_prefix + p.name;
    parameters_.push_back(p);
  }
  const std::size_t of_network = parameters_.size();
  add_head(*head_, "head.");
  for (const AuxiliaryHead& a : auxiliary_) add_head(*a.head, a.output + ".");
  for (std::size_t i = of_network; i < parameters_.size(); ++i) {
    const PartialTensor& p = parameters_[i];
    const bool vector = p.tensor.dim() <= 1;  // of a head: its bias
    trained.push_back({p, vector ? ParameterKind::bias : ParameterKind::weight});
  }
  optimizer_.emplace(trained, recipe.optimizer);
  if (recipe.training.ema > 0) {
    const std::vector<NamedTensor> averaged(
        parameters_.begin(), parameters_.begin() + static_cast<std::ptrdiff_t>(of_network));
    average_ = std::make_unique<WeightAverage>(averaged, recipe.training.ema);
  }
}

Learner::~Learner() = default;

void Learner::add_head(Head& head, const std::string& prefix) {
  const at::Device device = network_->device();
  for (PartialTensor t : head.parameters()) {
    move_to(t.tensor, device);
    t.name = prefix + t.name;
    parameters_.push_back(std::move(t));
  }
  for (const HeadBuffer& b : head.buffers()) move_to(b.tensor, device);
  buffers_->add(head, prefix);
}

Learner::Objective Learner::forward(const at::Tensor& pixels, const at::Tensor& labels,
                                    BatchPlace place, const TrainingPass& pass, std::int64_t images,
                                    ObservedImages* observed) {
  // What code of the caller's draws from torch depends on the pass alone, too.
  if (foreign_) at::manual_seed(Random(pass.seed, "torch", {pass.number}).next_u64());
  std::vector<at::Tensor> values;
  {
    const Autocast autocast(precision_of(recipe_.training.dtype).autocast, pixels.device().type());
    values = network_->forward(pixels, pass);
  }
  const auto share_of = [&](std::int64_t n) {
    return static_cast<double>(n) / static_cast<double>(images);
  };
  const auto weighted = [](const at::Tensor& loss, double weight) {
    return weight == 1 ? loss : loss * weight;
  };
  // Losses are computed outside of it: margins need float32. Features of bfloat16 stay what they
  // are; the heads multiply them with rounded weights, and do all else in float32.
  const at::Tensor features = values.front().flatten(1);
  head_->observe(observed != nullptr);
  const Head::Output main = head_->loss(features, labels, place);
  if (observed) observed->add(features.detach(), main);
  Objective objective;
  objective.own_share = share_of(labels.size(0));
  objective.whole_share = share_of(main.images);
  objective.value = weighted(main.loss, objective.whole_share);
  objective.loss = main.loss.detach();
  objective.correct = main.predicted.eq(labels).sum();
  for (std::size_t i = 0; i < auxiliary_.size(); ++i)
    objective.value =
        objective.value +
        weighted(auxiliary_[i].head->loss(values[i + 1].flatten(1), labels, place).loss,
                 auxiliary_weight_ * objective.own_share);
  return objective;
}

Learner::Step Learner::step(const Batch& batch, std::int64_t images, std::int64_t iteration,
                            double lr, bool observe, const PhaseObserver& on_phase) {
  const auto enter = [&](StepPhase phase) {
    if (on_phase) on_phase(phase);
  };
  const at::Device device = network_->device();
  const at::Tensor pixels =
      input_on(batch.images, device, precision_of(recipe_.training.dtype).weights);
  const at::Tensor labels = batch.labels.to(device);

  const std::int64_t n = pixels.size(0);
  const std::int64_t each =
      labels.numel() / std::max<std::int64_t>(n, 1);  // of words, each has one
  const std::int64_t parts = std::min(recipe_.training.accumulate, n);
  // Objective; loss, number right and number of images, summed over the latter.
  at::Tensor sums = at::zeros({4}, at::TensorOptions(at::kDouble).device(device));
  // The sums are then known, on all processes, before anything is changed.
  const bool early = updates_in_backward();
  ObservedImages images_observed;
  for (std::int64_t part = 0; part < parts; ++part) {
    enter(StepPhase::forward);
    if (part == 0) {
      optimizer_->zero_grad();
      buffers_->begin_step(communicator_.size());
    }
    buffers_->begin_part();
    const std::int64_t first = n * part / parts, count = n * (part + 1) / parts - first;
    // Another number for each micro-batch and process; one of each: the iteration's.
    const std::int64_t micro_batch = iteration * recipe_.training.accumulate + part;
    const TrainingPass pass{
        recipe_.training.seed,
        static_cast<std::uint64_t>(micro_batch * communicator_.size() + communicator_.rank()),
        batch_norm_share(recipe_.training, micro_batch + 1)};
    const Objective objective =
        forward(pixels.narrow(0, first, count), labels.narrow(0, first, count).flatten(),
                {first * each * communicator_.size() + communicator_.rank(), communicator_.size()},
                pass, images, observe ? &images_observed : nullptr);
    buffers_->end_part(objective.own_share, objective.whole_share);
    const auto scaled = static_cast<double>(count * each);
    sums += at::stack({objective.value.detach().to(at::kDouble),
                       objective.loss.to(at::kDouble) * scaled, objective.correct.to(at::kDouble),
                       at::full({}, scaled, sums.options())});
    if (early) communicator_.all_reduce(std::span(&sums, 1));
    enter(StepPhase::backward);
    if (early && std::isfinite(sums[0].item<double>()))
      optimizer_->backward(objective.value, *head_, lr, observe);
    else
      objective.value.backward();
  }

  if (communicator_.size() > 1) {
    enter(StepPhase::aggregate);
    if (!early) communicator_.all_reduce(std::span(&sums, 1));
    sum_gradients(parameters_, communicator_);
  }
  const at::Tensor total = sums.cpu();
  const double* t = total.const_data_ptr<double>();
  Step step;
  step.sums = {t[1], static_cast<std::int64_t>(t[2]), static_cast<std::int64_t>(t[3])};
  step.finite = std::isfinite(t[0]);
  if (step.finite) {
    buffers_->end_step(communicator_);
    enter(StepPhase::update);
    if (observe) {
      step.observed = images_observed.summary(communicator_);
      step.observed->gradient_norm = optimizer_->gradient_norm(communicator_);
    }
    step.gradient_norm = optimizer_->clip(communicator_);
    optimizer_->step(lr);
    if (average_) average_->update(iteration);
  }
  enter(StepPhase::done);
  return step;
}

bool Learner::updates_in_backward() const {
  const bool gradient_stays_here = communicator_.size() == 1 || head_->shape().split_classes;
  return gradient_stays_here && recipe_.training.accumulate == 1 &&
         recipe_.optimizer.clip_norm <= 0 && head_->updates_in_backward();
}

NonFinite Learner::non_finite() const {
  const at::NoGradGuard no_grad;
  const auto share = [](const std::vector<at::Tensor>& tensors) {
    double bad = 0, all = 0;
    for (const at::Tensor& t : tensors) {
      const at::Tensor values = t.is_sparse() ? t.coalesce().values() : t;
      bad += values.isfinite().logical_not().sum().item<double>();
      all += static_cast<double>(values.numel());
    }
    return all > 0 ? bad / all : 0;
  };
  std::vector<at::Tensor> weights, gradients;
  for (const PartialTensor& p : parameters_) {
    weights.push_back(p.tensor);
    if (p.tensor.grad().defined()) gradients.push_back(p.tensor.grad());
  }
  return {share(weights), share(gradients)};
}

std::vector<PartialTensor> Learner::state() const {
  std::vector<PartialTensor> tensors = parameters_;
  for (const NamedTensor& t : network_->buffers())
    tensors.push_back({{network_prefix + t.name, t.tensor}});
  for (PartialTensor& t : buffers_->tensors()) tensors.push_back(std::move(t));
  for (PartialTensor& t : optimizer_->state()) tensors.push_back(std::move(t));
  if (average_)
    for (const NamedTensor& t : average_->tensors())
      tensors.push_back({{"average." + t.name, t.tensor}});
  return tensors;
}

std::unique_ptr<TrainedModel> Learner::snapshot() const {
  std::vector<NamedTensor> averages;
  if (average_)
    for (const NamedTensor& t : average_->tensors())
      averages.push_back({t.name.substr(network_prefix.size()), t.tensor});
  return network_->snapshot(averages);
}

}  // namespace facebench
