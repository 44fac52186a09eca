#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/io/json.h"
#include "facebench/nn/communicator.h"
#include "facebench/nn/network.h"
#include "facebench/nn/networks.h"
#include "facebench/timing/iteration.h"

namespace facebench {

// What is timed: one iteration of training or inference.
struct StepOptions {
  std::string network = "resnet50";
  std::string mode = "training";
  std::int64_t batch = 16;
  std::int64_t classes = 10575;
  std::string loss = "softmax";
  std::string input = "synthetic";
  std::optional<std::string> path;
  int threads = 0;
  int data_threads = 1;
  std::string device = "cpu";
  std::string precision = "float32";
  bool channels_last = true;
  double lr = 0.01;
  double momentum = 0.9;
  double weight_decay = 0;
  std::uint32_t seed = 0;
  static void describe(OptionsBuilder<StepOptions>& o);
};

// Bytes that the graph says a step needs; what the engine's operations need for themselves (packed
// weights, work space) comes on top.
struct PredictedMemory {
  std::int64_t activations = 0;  // kept for the backward pass; in inference the most alive at once
  std::int64_t parameters = 0;   // of network and head
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;  // momentum
  std::int64_t head = 0;       // the classifier's logits and their gradient
  std::int64_t total() const { return activations + parameters + gradients + optimizer + head; }
};
// Before anything is allocated. Throws std::invalid_argument as resolve_network_options does.
PredictedMemory predict_step_memory(const StepOptions& options, const NetworkOptions& network);

// An input, and what is done with its batches. In training a step of the trainer itself
// (training/learner.h), with auxiliary classifiers where `network_options` ask for them; in
// inference the frozen network (nn/inference_network.h) on the CPU in float32, otherwise
// Network::infer. bfloat16 is automatic mixed precision in training (weights, optimizer and loss
// stay in float32); in inference the network itself is converted.
class StepBench {
 public:
  // `communicator`: of several processes that train together, each on its share of the batch; null:
  // alone. Throws std::invalid_argument for unknown names or a device that is not there.
  StepBench(const StepOptions& options, const NetworkOptions& network_options,
            const Json& loss_options = Json::object(),
            std::shared_ptr<Communicator> communicator = nullptr);
  ~StepBench();
  StepBench(const StepBench&) = delete;
  StepBench& operator=(const StepBench&) = delete;

  const Graph& graph() const;
  // "network." and "head." tensors, shared.
  std::vector<NamedTensor> tensors() const;
  // Embeddings of images (N, 3, H, W), or of words (N, T), in evaluation mode, as float32 on the
  // CPU: what engines are compared by.
  at::Tensor infer(const at::Tensor& images);
  // The losses of `steps` training iterations on one batch, dropout off: what training is compared
  // by. It moves the weights.
  std::vector<double> losses(const at::Tensor& images, const at::Tensor& labels,
                             std::int64_t steps);

  // The next iterations, timed. On a GPU an iteration ends when the device has ended it, and phases
  // are the device's own times.
  StepTimes run(std::int64_t iterations, const Job& job = {});
  // Seconds that one batch takes to make (mean over `batches`) with nothing else running, and that
  // one aggregation of all gradients takes; 0 where there is none.
  double data_alone(std::int64_t batches = 8);
  double aggregate_alone(std::int64_t times = 4);
  // Seconds an iteration that the recording itself takes.
  double recording_seconds() const;
  // Bytes of the device's allocator, {now, peak}; {0, 0} on the CPU.
  std::pair<std::int64_t, std::int64_t> device_memory() const;

 private:
  class Step;
  std::unique_ptr<Step> step_;
};

}  // namespace facebench
