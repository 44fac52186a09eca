#include "facebench/training/learner.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>

#include "facebench/nn/losses.h"
#include "training/arithmetic.h"
#include "training/head_buffers.h"
#include "training/observed_images.h"
#include "training/sum_gradients.h"
#include "training/weight_average.h"

namespace facebench {
namespace {

const std::string network_prefix = "network.";

// The network as it is trained: for the size of its input, without its own classifier (that belongs
// to the loss), with auxiliary branches where the recipe wants them.
NetworkOptions trained_network_options(const Recipe& recipe, const ImageShape& shape) {
  NetworkOptions options = network_for_images(recipe.input, recipe.network_options, shape);
  options.classes = 0;
  if (!options.auxiliary)
    options.auxiliary = networks().at(recipe.network).defaults.auxiliary.value_or(0);
  if (recipe.training.aux_weight == 0) options.auxiliary = 0;
  return options;
}

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
                 const HeadMaker& make_own_head)
    : recipe_(recipe),
      communicator_(communicator),
      model_(make_model(recipe.network, trained_network_options(recipe, shape), options,
                        recipe.training.initializer, recipe.training.seed)),
      buffers_(std::make_unique<HeadBuffers>()) {
  if (recipe.training.batch_norm_average == "corrected" && !recipe.training.batch_norm_decay)
    throw std::invalid_argument(
        "batch_norm_average is 'corrected', which needs a batch_norm_decay (Caffe's is 0.999)");
  const at::ScalarType dtype = precision_of(recipe.training.dtype).weights;
  const std::uint64_t seed = recipe.training.seed;
  const Graph& graph = model_.weights.graph();
  const HeadShape head{element_count(graph.shape({graph.tap_node(graph.classifier_input())})),
                       classes,
                       seed,
                       dtype,
                       &communicator,
                       recipe.training.split_classes,
                       recipe.training.sample_rate};
  head_ = make_own_head ? make_own_head(head) : make_head(recipe.loss, recipe.loss_options, head);
  taps_.emplace_back(graph.classifier_input());
  if (model_.network_options.auxiliary == 1) {
    auxiliary_weight_ =
        recipe.training.aux_weight.value_or(networks().at(recipe.network).aux_weight);
    Json softmax = Json::object();  // they start as the main classifier does
    if (recipe.loss_options.contains("init")) softmax["init"] = recipe.loss_options["init"];
    for (const auto& [tap, node] : graph.taps()) {
      if (!tap.starts_with("aux")) continue;
      taps_.push_back(tap);
      // Each head's weights are a random stream of their own.
      auxiliary_.push_back(
          {tap, make_head("softmax", softmax,
                          {element_count(graph.shape({node})), classes,
                           seed + (static_cast<std::uint64_t>(taps_.size()) << 32), dtype})});
    }
  }

  model_.weights.to(device, dtype);
  model_.weights.channels_last(recipe.training.channels_last);
  for (const NamedTensor& t : model_.weights.parameters())
    parameters_.push_back({{network_prefix + t.name, t.tensor}});
  const std::size_t of_network = parameters_.size();
  add_head(*head_, "head.");
  for (const AuxiliaryHead& a : auxiliary_) add_head(*a.head, a.tap + ".");
  optimizer_.emplace(trained_parameters(of_network), recipe.optimizer);
  if (recipe.training.ema > 0) {
    const std::vector<NamedTensor> averaged(
        parameters_.begin(), parameters_.begin() + static_cast<std::ptrdiff_t>(of_network));
    average_ = std::make_unique<WeightAverage>(averaged, recipe.training.ema);
  }
}

Learner::~Learner() = default;

std::vector<TrainedParameter> Learner::trained_parameters(std::size_t of_network) const {
  std::vector<TrainedParameter> result;
  for (const TensorSpec& spec : model_.weights.graph().tensors())
    if (spec.trainable()) {
      result.push_back({parameters_[result.size()], parameter_kind(spec)});
    }
  for (std::size_t i = of_network; i < parameters_.size(); ++i) {
    const PartialTensor& p = parameters_[i];
    const bool vector = p.tensor.dim() <= 1;  // of a head: its bias
    result.push_back({p, vector ? ParameterKind::bias : ParameterKind::weight});
  }
  return result;
}

void Learner::add_head(Head& head, const std::string& prefix) {
  const at::Device device = model_.weights.device();
  for (PartialTensor t : head.parameters()) {
    move_to(t.tensor, device);
    t.name = prefix + t.name;
    parameters_.push_back(std::move(t));
  }
  for (const HeadBuffer& b : head.buffers()) move_to(b.tensor, device);
  buffers_->add(head, prefix);
}

Learner::Objective Learner::forward(const at::Tensor& pixels, const at::Tensor& labels,
                                    BatchPlace place, std::int64_t images,
                                    ObservedImages* observed) {
  std::vector<at::Tensor> values;
  {
    const Autocast autocast(precision_of(recipe_.training.dtype).autocast, pixels.device().type());
    values = model_.weights.forward(pixels, std::span<const std::string>(taps_));
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
  const at::Device device = model_.weights.device();
  const at::Tensor pixels = batch.images.to(device, precision_of(recipe_.training.dtype).weights);
  const at::Tensor labels = batch.labels.to(device);

  const std::int64_t n = pixels.size(0);
  const std::int64_t parts = std::min(recipe_.training.accumulate, n);
  // Objective; loss, number right and number of images, summed over the latter.
  at::Tensor sums = at::zeros({4}, at::TensorOptions(at::kDouble).device(device));
  ObservedImages images_observed;
  for (std::int64_t part = 0; part < parts; ++part) {
    enter(StepPhase::forward);
    if (part == 0) {
      optimizer_->zero_grad();
      buffers_->begin_step(communicator_.size());
    }
    buffers_->begin_part();
    const std::int64_t first = n * part / parts, count = n * (part + 1) / parts - first;
    model_.weights.set_batch_norm_share(
        batch_norm_share(recipe_.training, iteration * recipe_.training.accumulate + part + 1));
    // Other masks for each micro-batch and process; one of each: the iteration's number.
    model_.weights.set_dropout(
        recipe_.training.seed,
        static_cast<std::uint64_t>((iteration * recipe_.training.accumulate + part) *
                                       communicator_.size() +
                                   communicator_.rank()));
    const Objective objective =
        forward(pixels.narrow(0, first, count), labels.narrow(0, first, count),
                {first * communicator_.size() + communicator_.rank(), communicator_.size()}, images,
                observe ? &images_observed : nullptr);
    buffers_->end_part(objective.own_share, objective.whole_share);
    enter(StepPhase::backward);
    objective.value.backward();
    const auto scaled = static_cast<double>(count);
    sums += at::stack({objective.value.detach().to(at::kDouble),
                       objective.loss.to(at::kDouble) * scaled, objective.correct.to(at::kDouble),
                       at::full({}, scaled, sums.options())});
  }

  if (communicator_.size() > 1) {
    enter(StepPhase::aggregate);
    communicator_.all_reduce(std::span(&sums, 1));
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
  for (const NamedTensor& t : model_.weights.buffers())
    tensors.push_back({{network_prefix + t.name, t.tensor}});
  for (NamedTensor& t : buffers_->tensors()) tensors.push_back({std::move(t)});
  for (PartialTensor& t : optimizer_->state()) tensors.push_back(std::move(t));
  if (average_)
    for (const NamedTensor& t : average_->tensors())
      tensors.push_back({{"average." + t.name, t.tensor}});
  return tensors;
}

Model Learner::snapshot() const {
  NetworkOptions options = model_.network_options;
  options.auxiliary = 0;
  Graph graph = build_graph(model_.network, options);
  std::map<std::string, at::Tensor> current;
  for (const NamedTensor& t : model_.weights.tensors()) current[network_prefix + t.name] = t.tensor;
  if (average_)
    for (const NamedTensor& t : average_->tensors()) current[t.name] = t.tensor;
  std::vector<NamedTensor> tensors;
  for (const TensorSpec& spec : graph.tensors())
    tensors.push_back({spec.name, current.at(network_prefix + spec.name)});
  Model model{model_.network,
              options,
              model_.options,
              Network(std::move(graph), tensors, model_.network),
              {},
              {}};
  model.weights.channels_last(recipe_.training.channels_last);
  model.weights.train(false);
  return model;
}

}  // namespace facebench
