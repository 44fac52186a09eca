#include "facebench/timing/step_bench.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include "facebench/core/options.h"
#include "facebench/nn/graph_summary.h"
#include "facebench/nn/inference_network.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/threads.h"
#include "facebench/nn/torch_arithmetic.h"
#include "facebench/nn/torch_device.h"
#include "facebench/timing/step_input.h"
#include "facebench/timing/step_recorder.h"
#include "facebench/training/learner.h"

namespace facebench {
namespace {

NetworkOptions without_classifier(const StepOptions& options, NetworkOptions network) {
  network.classes = 0;  // the classifier belongs to the loss
  return resolve_network_options(options.network, network);
}

// Of a sequence each word has one.
std::int64_t labels_of_one(const Graph& graph) {
  return graph.vocabulary() > 0 ? graph.input_shape()[0] : 1;
}

// What is trained, as a recipe says it.
Recipe recipe_of(const StepOptions& options, const NetworkOptions& network,
                 const Json& loss_options) {
  Recipe recipe;
  recipe.network = options.network;
  recipe.network_options = without_classifier(options, network);
  recipe.loss = options.loss;
  recipe.loss_options = loss_options;
  recipe.training.seed = options.seed;
  recipe.training.batch = options.batch;
  recipe.training.dtype = options.precision;
  recipe.training.channels_last = options.channels_last;
  recipe.optimizer.lr = options.lr;
  recipe.optimizer.momentum = options.momentum;
  recipe.optimizer.weight_decay = options.weight_decay;
  return recipe;
}

}  // namespace

void StepOptions::describe(OptionsBuilder<StepOptions>& o) {
  o.name("StepOptions", "What an iteration that is timed consists of.");
  o.field("network", &StepOptions::network, "see facebench list networks");
  o.choice("mode", &StepOptions::mode, "what an iteration does", {"training", "inference"});
  o.field("batch", &StepOptions::batch,
          "images (or sequences of words) of an iteration, of all processes together", 1, 1e6);
  o.field("classes", &StepOptions::classes,
          "classes of the loss, where input or network do not say (WebFace has 10,575)", 2, 1e8);
  o.field("loss", &StepOptions::loss, "see facebench list losses");
  o.choice("input", &StepOptions::input, "where images come from", step_inputs().names());
  o.field("path", &StepOptions::path,
          "a pack or a folder of images; unset where the input needs none");
  o.field("threads", &StepOptions::threads, "threads of the arithmetic; 0: one a processor", 0,
          1024);
  o.field("data_threads", &StepOptions::data_threads,
          "threads that make batches ahead; 0: the step itself does the work", 0, 1024);
  o.field("device", &StepOptions::device, "where it runs: cpu, cuda or cuda:N");
  o.choice("precision", &StepOptions::precision, "arithmetic; bfloat16 is mixed precision",
           {"float32", "bfloat16"});
  o.field("channels_last", &StepOptions::channels_last, "values laid out NHWC");
  o.field("lr", &StepOptions::lr, "learning rate", 0, 1e6);
  o.field("momentum", &StepOptions::momentum, "of the optimizer", 0, 1);
  o.field("weight_decay", &StepOptions::weight_decay, "of the optimizer", 0, 1e3);
  o.field("seed", &StepOptions::seed, "of weights and input");
}

PredictedMemory predict_step_memory(const StepOptions& options, const NetworkOptions& network) {
  check_options(options);
  const Graph graph = build_graph(options.network, without_classifier(options, network));
  const Shape embedding = graph.shape({graph.tap_node("embedding")});
  const bool words = graph.vocabulary() > 0;
  std::int64_t width = words ? embedding.back() : element_count(embedding);
  const std::int64_t classes = words ? graph.vocabulary() : options.classes;
  PredictedMemory m;
  m.parameters = 4 * count_parameters(graph);
  // Mixed precision halves what the operations keep and put out.
  const std::int64_t element = options.precision == "bfloat16" ? 2 : 4;
  if (options.mode == "inference") {
    m.activations = options.batch * peak_activations(graph) * element;
    return m;
  }
  for (const auto& [tap, node] : graph.taps())
    if (tap.starts_with("aux"))  // each has a classifier of its own
      width += element_count(graph.shape({node}));
  m.parameters += 4 * width * classes;
  m.gradients = m.parameters;
  m.optimizer = m.parameters;
  m.activations = options.batch * training_activation_bytes(graph, element);
  m.head = 2 * 4 * options.batch * labels_of_one(graph) * classes;
  return m;
}

class StepBench::Step {
 public:
  Step(const StepOptions& options, const NetworkOptions& network_options, const Json& loss_options,
       std::shared_ptr<Communicator> communicator)
      : options_((check_options(options), options)),
        communicator_(communicator ? std::move(communicator) : std::make_shared<SingleProcess>()),
        device_(torch_device(options.device)),
        recipe_(recipe_of(options, network_options, loss_options)) {
    const NetworkOptions& network = recipe_.network_options;
    const int height = network.height.value_or(0), width = network.width.value_or(0);
    input_options_.source = options.input;
    input_options_.path = options.path.value_or("");
    input_options_.batch = options.batch;
    input_options_.channels = network.channels;
    input_options_.height = height;
    input_options_.width = width;
    input_options_.words = network.words.value_or(0);
    input_options_.vocabulary = network.vocabulary.value_or(0);
    input_options_.classes = options.classes;
    input_options_.seed = options.seed;
    input_options_.channels_last = options.channels_last;
    input_options_.data_threads = options.data_threads;
    input_options_.rank = communicator_->rank();
    input_options_.ranks = communicator_->size();
    input_ = make_step_input(input_options_);
    ModelOptions model;
    if (network.channels == 1) model.color = "gray";
    if (options.mode == "training")
      learner_.emplace(recipe_, model, ImageShape{height, width}, input_->classes(), device_,
                       *communicator_);
    else
      make_inference_network();
    if (!input_->works()) fixed_ = move(input_->next());
  }

  const Graph& graph() { return network().graph(); }

  std::vector<NamedTensor> tensors() {
    std::vector<NamedTensor> result;
    for (const NamedTensor& t : network().tensors())
      result.push_back({"network." + t.name, t.tensor});
    if (learner_)
      for (const NamedTensor& t : learner_->parameters())
        if (t.name.starts_with("head.")) result.push_back(t);
    return result;
  }

  at::Tensor infer(const at::Tensor& images) {
    const Arithmetic settings = arithmetic();
    const c10::InferenceMode inference;
    return run_network(layout(images)).to(at::kCPU, at::kFloat);
  }

  std::vector<double> losses(const at::Tensor& images, const at::Tensor& labels,
                             std::int64_t steps) {
    if (!learner_) throw std::invalid_argument("losses: this is inference");
    const Arithmetic settings = arithmetic();
    network().use_dropout(false);
    const Batch batch = move({images, labels});
    std::vector<double> result;
    for (std::int64_t i = 0; i < steps; ++i)
      result.push_back(train_on(batch, images.size(0) * communicator_->size(), {}));
    network().use_dropout(true);
    return result;
  }

  StepTimes run(std::int64_t iterations, const Job& job) {
    const Arithmetic settings = arithmetic();
    StepRecorder recorder(device_, iterations);
    const PhaseObserver on_phase = [&](StepPhase phase) { recorder.enter(phase); };
    for (std::int64_t i = 0; i < iterations; ++i) {
      job.check();
      recorder.begin();
      one(on_phase);
      recorder.end();
    }
    return recorder.times();
  }

  double data_alone(std::int64_t batches) {
    if (!input_->works()) return 0;
    // A loader of its own, without the batches that wait already.
    const std::unique_ptr<StepInput> fresh = make_step_input(input_options_);
    const std::vector<double> seconds = time_input(*fresh, batches);
    double sum = 0;
    for (const double s : seconds) sum += s;
    return sum / static_cast<double>(batches);
  }

  double aggregate_alone(std::int64_t times) {
    if (communicator_->size() == 1 || !learner_) return 0;
    std::vector<at::Tensor> copies;
    for (const NamedTensor& p : learner_->parameters()) copies.push_back(at::zeros_like(p.tensor));
    communicator_->all_reduce(copies);
    synchronize_device(device_);
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < times; ++i) communicator_->all_reduce(copies);
    synchronize_device(device_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(times);
  }

  double recording_seconds() const { return StepRecorder::cost(device_); }

  std::pair<std::int64_t, std::int64_t> device_memory() const {
    if (device_.is_cpu()) return {0, 0};
    const auto stats = c10::getDeviceAllocator(device_.type())->getDeviceStats(device_.index());
    const auto& all = stats.allocated_bytes[0];
    return {all.current, all.peak};
  }

 private:
  void make_inference_network() {
    network_.emplace(build_network(recipe_.network, recipe_.network_options,
                                   recipe_.training.initializer, recipe_.training.seed));
    const bool mixed = options_.precision == "bfloat16";
    network_->to(device_, mixed ? at::kBFloat16 : at::kFloat);
    network_->channels_last(options_.channels_last);
    network_->train(false);
    if (device_.is_cpu() && !mixed)
      frozen_.emplace(*network_, options_.batch / communicator_->size());
  }

  Network& network() { return learner_ ? *learner_->network().ours() : *network_; }

  // As every engine of a race computes: TF32 is off on a card, and cuDNN does not search.
  struct Arithmetic {
    TorchThreads threads;
    TorchArithmetic exact{/*deterministic=*/false};
  };
  Arithmetic arithmetic() const {
    return {TorchThreads(options_.threads > 0 ? options_.threads : available_processors())};
  }

  at::Tensor layout(const at::Tensor& images) {
    return input_on(images, device_, network().dtype())
        .contiguous(options_.channels_last && images.dim() == 4 ? at::MemoryFormat::ChannelsLast
                                                                : at::MemoryFormat::Contiguous);
  }
  Batch move(const Batch& batch) { return {layout(batch.images), batch.labels.to(device_)}; }

  at::Tensor run_network(const at::Tensor& images) {
    return frozen_ ? frozen_->infer(images) : network().infer(images);
  }

  void one(const PhaseObserver& on_phase) {
    if (!fixed_) on_phase(StepPhase::data);
    const Batch batch = fixed_ ? *fixed_ : move(input_->next());
    if (learner_) {
      train_on(batch, options_.batch, on_phase);
      return;
    }
    on_phase(StepPhase::forward);
    const c10::InferenceMode inference;
    run_network(batch.images);
    on_phase(StepPhase::done);
  }

  // The loss of the step.
  double train_on(const Batch& batch, std::int64_t images, const PhaseObserver& on_phase) {
    const at::AutoGradMode gradients(true);
    return learner_
        ->step(batch, images * labels_of_one(graph()), iteration_++, options_.lr,
               /*observe=*/false, on_phase)
        .sums.mean_loss();
  }

  StepOptions options_;
  std::shared_ptr<Communicator> communicator_;
  at::Device device_;
  Recipe recipe_;
  StepInputOptions input_options_;
  std::unique_ptr<StepInput> input_;
  std::optional<Batch> fixed_;  // on the device, where the input is always the same
  // In training the learner; in inference the network, and where there is one its frozen form.
  std::optional<Learner> learner_;
  std::int64_t iteration_ = 0;
  std::optional<Network> network_;
  std::optional<InferenceNetwork> frozen_;
};

StepBench::StepBench(const StepOptions& options, const NetworkOptions& network_options,
                     const Json& loss_options, std::shared_ptr<Communicator> communicator)
    : step_(std::make_unique<Step>(options, network_options, loss_options,
                                   std::move(communicator))) {}
StepBench::~StepBench() = default;

const Graph& StepBench::graph() const { return step_->graph(); }
std::vector<NamedTensor> StepBench::tensors() const { return step_->tensors(); }
at::Tensor StepBench::infer(const at::Tensor& images) { return step_->infer(images); }
std::vector<double> StepBench::losses(const at::Tensor& images, const at::Tensor& labels,
                                      std::int64_t steps) {
  return step_->losses(images, labels, steps);
}
StepTimes StepBench::run(std::int64_t iterations, const Job& job) {
  return step_->run(iterations, job);
}
double StepBench::data_alone(std::int64_t batches) { return step_->data_alone(batches); }
double StepBench::aggregate_alone(std::int64_t times) { return step_->aggregate_alone(times); }
double StepBench::recording_seconds() const { return step_->recording_seconds(); }
std::pair<std::int64_t, std::int64_t> StepBench::device_memory() const {
  return step_->device_memory();
}

}  // namespace facebench
