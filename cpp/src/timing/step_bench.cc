#include "facebench/timing/step_bench.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "facebench/core/devices.h"
#include "facebench/nn/graph_summary.h"
#include "facebench/nn/head.h"
#include "facebench/nn/inference_network.h"
#include "facebench/timing/step_input.h"
#include "facebench/timing/step_recorder.h"
#include "facebench/training/optimizer.h"
#include "training/arithmetic.h"
#include "training/sum_gradients.h"

namespace facebench {
namespace {

NetworkOptions without_classifier(const StepOptions& options, NetworkOptions network) {
  network.classes = 0;  // the classifier belongs to the loss
  return resolve_network_options(options.network, network);
}

at::Device device_of(const StepOptions& options) {
  const at::Device device(options.device);
  if (device.is_cpu()) return device;
  const CudaDevices found = cuda_devices();
  const int index = device.has_index() ? device.index() : 0;
  if (!device.is_cuda() || index >= static_cast<int>(found.devices.size()))
    throw std::invalid_argument(fmt::format("no device '{}' on this machine{}{}", options.device,
                                            found.reason.empty() ? "" : ": ", found.reason));
  return at::Device(device.type(), static_cast<at::DeviceIndex>(index));
}

}  // namespace

void StepOptions::describe(OptionsBuilder<StepOptions>& o) {
  o.name("StepOptions", "What an iteration that is timed consists of.");
  o.field("network", &StepOptions::network, "see facebench list networks");
  o.choice("mode", &StepOptions::mode, "what an iteration does", {"training", "inference"});
  o.field("batch", &StepOptions::batch, "images of an iteration, of all processes together", 1,
          1e6);
  o.field("classes", &StepOptions::classes,
          "classes of the loss, where the input does not say (WebFace has 10,575)", 2, 1e8);
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
  const Graph graph = build_network(options.network, without_classifier(options, network));
  const std::int64_t width =
      element_count(graph.nodes()[static_cast<std::size_t>(graph.tap_node("embedding"))].shape);
  PredictedMemory m;
  m.parameters = 4 * count_parameters(graph);
  // Mixed precision halves what the operations keep and put out.
  const std::int64_t element = options.precision == "bfloat16" ? 2 : 4;
  if (options.mode == "inference") {
    m.activations = options.batch * peak_activations(graph) * element;
    return m;
  }
  m.parameters += 4 * width * options.classes;
  m.gradients = m.parameters;
  m.optimizer = m.parameters;
  m.activations = options.batch * training_activation_bytes(graph, element);
  m.head = 2 * 4 * options.batch * options.classes;
  return m;
}

class StepBench::Step {
 public:
  Step(const StepOptions& options, const NetworkOptions& network_options, const Json& loss_options,
       std::shared_ptr<Communicator> communicator)
      : options_((check_options(options), options)),
        communicator_(communicator ? std::move(communicator) : std::make_shared<SingleProcess>()),
        device_(device_of(options)),
        training_(options.mode == "training"),
        network_(build_network(options.network, without_classifier(options, network_options)),
                 "torch", options.seed) {
    const Shape shape = network_.graph().input_shape();
    StepInputOptions in;
    in.source = options.input;
    in.path = options.path.value_or("");
    in.batch = options.batch;
    in.height = static_cast<int>(shape[1]);
    in.width = static_cast<int>(shape[2]);
    in.classes = options.classes;
    in.seed = options.seed;
    in.channels_last = options.channels_last;
    in.data_threads = options.data_threads;
    in.rank = communicator_->rank();
    in.ranks = communicator_->size();
    input_options_ = in;
    input_ = make_step_input(in);
    network_.to(device_, at::kFloat);
    network_.channels_last(options.channels_last);
    const bool mixed = options.precision == "bfloat16";
    if (!training_) {
      network_.train(false);
      if (mixed) network_.to(device_, at::kBFloat16);
      if (device_.is_cpu() && !mixed)
        frozen_.emplace(network_, options.batch / communicator_->size());
    } else {
      make_head(loss_options);
    }
    if (!input_->works()) fixed_ = move(input_->next());
  }

  const Graph& graph() const { return network_.graph(); }

  std::vector<NamedTensor> tensors() const {
    std::vector<NamedTensor> result;
    for (const NamedTensor& t : network_.tensors())
      result.push_back({"network." + t.name, t.tensor});
    if (head_)
      for (const NamedTensor& t : head_->parameters())
        result.push_back({"head." + t.name, t.tensor});
    return result;
  }

  at::Tensor infer(const at::Tensor& images) {
    const Threads threads(options_.threads);
    const c10::InferenceMode inference;
    const at::Tensor moved = layout(images.to(device_, network_.dtype()));
    return (frozen_ ? frozen_->infer(moved) : network_.infer(moved)).to(at::kCPU, at::kFloat);
  }

  std::vector<double> losses(const at::Tensor& images, const at::Tensor& labels,
                             std::int64_t steps) {
    if (!training_) throw std::invalid_argument("losses: this is inference");
    const Threads threads(options_.threads);
    network_.use_dropout(false);
    const Batch batch = move({images, labels});
    std::vector<double> result;
    NoRecorder none;
    for (std::int64_t i = 0; i < steps; ++i) result.push_back(train_on(batch, none).item<double>());
    network_.use_dropout(true);
    return result;
  }

  StepTimes run(std::int64_t iterations, const Job& job) {
    const Threads threads(options_.threads);
    StepRecorder recorder(device_, iterations);
    for (std::int64_t i = 0; i < iterations; ++i) {
      job.check();
      recorder.begin();
      one(recorder);
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
    if (communicator_->size() == 1 || !training_) return 0;
    std::vector<at::Tensor> copies;
    for (const NamedTensor& p : parameters_) copies.push_back(at::zeros_like(p.tensor));
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
  // torch's number of threads while something runs.
  class Threads {
   public:
    explicit Threads(int threads) : before_(at::get_num_threads()) {
      at::set_num_threads(threads > 0 ? threads : available_processors());
    }
    ~Threads() { at::set_num_threads(before_); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

   private:
    int before_;
  };

  // Stands in for a recorder where nothing is to be recorded.
  struct NoRecorder {
    void mark(StepPhase) {}
  };

  void make_head(const Json& loss_options) {
    const std::int64_t width = element_count(
        graph().nodes()[static_cast<std::size_t>(graph().tap_node("embedding"))].shape);
    head_ = facebench::make_head(options_.loss, loss_options,
                                 {width, input_->classes(), options_.seed, at::kFloat});
    if (!device_.is_cpu()) {
      for (const NamedTensor& p : head_->parameters()) {
        at::Tensor shared = p.tensor;
        shared.set_data(shared.detach().to(device_));
      }
      const std::vector<NamedTensor> buffers = head_->buffers();
      for (const NamedTensor& b : buffers) head_->set_buffer(b.name, b.tensor.to(device_));
    }
    for (const NamedTensor& t : network_.parameters())
      parameters_.push_back({"network." + t.name, t.tensor});
    for (const NamedTensor& t : head_->parameters())
      parameters_.push_back({"head." + t.name, t.tensor});
    OptimizerOptions sgd;
    sgd.lr = options_.lr;
    sgd.momentum = options_.momentum;
    sgd.weight_decay = options_.weight_decay;
    optimizer_.emplace(parameters_, sgd);
  }

  at::Tensor layout(const at::Tensor& images) const {
    return images.contiguous(options_.channels_last ? at::MemoryFormat::ChannelsLast
                                                    : at::MemoryFormat::Contiguous);
  }
  Batch move(const Batch& batch) const {
    return {layout(batch.images.to(device_, network_.dtype())), batch.labels.to(device_)};
  }

  template <class Recorder>
  void one(Recorder& recorder) {
    const Batch batch = fixed_ ? *fixed_ : move(input_->next());
    if (!fixed_) recorder.mark(StepPhase::data);
    if (training_) {
      train_on(batch, recorder);
      return;
    }
    const c10::InferenceMode inference;
    (frozen_ ? frozen_->infer(batch.images) : network_.infer(batch.images));
    recorder.mark(StepPhase::forward);
  }

  template <class Recorder>
  at::Tensor train_on(const Batch& batch, Recorder& recorder) {
    const at::AutoGradMode gradients(true);
    at::Tensor features;
    {
      const Autocast autocast(options_.precision == "bfloat16", device_.type());
      features = network_.forward(batch.images, graph().classifier_input());
    }
    // As the trainer: the loss outside of it, and scaled by this process's share of the batch.
    const at::Tensor loss = head_->loss(features.flatten(1), batch.labels).loss;
    recorder.mark(StepPhase::forward);
    optimizer_->zero_grad();
    const int ranks = communicator_->size();
    (ranks == 1 ? loss : loss * (1.0 / ranks)).backward();
    recorder.mark(StepPhase::backward);
    if (ranks > 1) {
      sum_gradients(parameters_, *communicator_);
      recorder.mark(StepPhase::aggregate);
    }
    optimizer_->step(options_.lr);
    recorder.mark(StepPhase::update);
    return loss;
  }

  StepOptions options_;
  std::shared_ptr<Communicator> communicator_;
  at::Device device_;
  bool training_;
  Network network_;
  StepInputOptions input_options_;
  std::unique_ptr<StepInput> input_;
  std::optional<Batch> fixed_;  // on the device, where the input is always the same
  std::optional<InferenceNetwork> frozen_;
  std::unique_ptr<Head> head_;
  std::vector<NamedTensor> parameters_;
  std::optional<Sgd> optimizer_;
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
