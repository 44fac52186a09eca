#include "facebench/nn/inference_network.h"

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "facebench/core/isa.h"
#include "facebench/nn/graph_summary.h"
#include "facebench/nn/inference/engine.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

// Operations that torch's own compiler uses for frozen networks. They are reached by name, since
// torch has no header for them; a torch without them runs the plain operations.
std::optional<c10::OperatorHandle> find_operator(const char* name) {
  return c10::Dispatcher::singleton().findSchema({name, ""});
}

at::Tensor call(const c10::OperatorHandle& op, torch::jit::Stack stack) {
  op.callBoxed(&stack);
  return stack.front().toTensor();
}

using Scalars = c10::List<std::optional<at::Scalar>>;

std::string step_method(const Step& step) {
  switch (step.kind) {
    case StepKind::patches:
      return "patches";
    case StepKind::conv: {
      if (step.winograd < 0) return "direct";
      const WinogradForm& form = kWinogradForm[step.winograd];
      return fmt::format("Winograd {}x{} of {}x{}", form.down.outputs, form.across.outputs,
                         form.down.taps, form.across.taps);
    }
    case StepKind::depthwise:
      return "depthwise";
    case StepKind::linear:
      return "linear";
    case StepKind::pool:
      return "pool";
    case StepKind::pointwise:
      return "pointwise";
    case StepKind::larger:
      return "larger of two";
    case StepKind::multiply:
      return "multiply";
    case StepKind::sigmoid:
      return "sigmoid";
    case StepKind::shift:
      return "shift";
  }
  throw std::logic_error("step_method");
}

}  // namespace

// One convolution with what follows it, or (pass_through) an activation that went into one.
struct InferenceNetwork::PackedLayer {
  bool pass_through = false;
  at::Tensor weight;
  std::optional<at::Tensor> bias;
  std::vector<std::int64_t> padding, stride, dilation;
  std::int64_t groups = 1;
  std::string activation = "none";
  Scalars scalars;
};

// What is made when it is first asked for.
struct InferenceNetwork::Prepared {
  std::mutex mutex;
  // By tap; null: the graph has what they do not cover.
  std::map<int, std::unique_ptr<InferenceEngine>> engines;
  // oneDNN chooses a layout of weights by the batch and the threads, and brings others into it
  // anew in every call, which can take longer than all products.
  struct Layout {
    std::int64_t batch = 0;
    int threads = 0;
    std::shared_ptr<const PackedLayers> layers;
  };
  std::array<Layout, 2> layouts;  // the last used first: those of full batches and the last one
};

InferenceNetwork::InferenceNetwork(const Network& network, std::int64_t batch,
                                   InferencePrecision precision, InputRanges ranges)
    : network_(fold_batch_norm(network)),
      precision_(precision),
      ranges_(std::move(ranges)),
      prepared_(std::make_unique<Prepared>()) {
  network_.channels_last();
  if (!on_cpu_in_float32()) {
    if (precision != InferencePrecision::float32) refuse_precision("is not on the CPU in float32");
    return;
  }
  for (const auto& [tap, node] : graph().taps())
    if (tap == "embedding" && engine(node)) return;
  packed(batch);
}

void InferenceNetwork::refuse_precision(std::string_view why) const {
  throw std::invalid_argument(
      fmt::format("a network that {} has no precision but float32, not {}", why,
                  inference_precisions().entries()[static_cast<std::size_t>(precision_)].name));
}

bool InferenceNetwork::on_cpu_in_float32() const {
  return network_.device().is_cpu() && network_.dtype() == at::kFloat;
}

InferenceNetwork::~InferenceNetwork() = default;
InferenceNetwork::InferenceNetwork(InferenceNetwork&&) noexcept = default;
InferenceNetwork& InferenceNetwork::operator=(InferenceNetwork&&) noexcept = default;

std::shared_ptr<const InferenceNetwork::PackedLayers> InferenceNetwork::packed(
    std::int64_t batch) const {
  const int threads = at::get_num_threads();
  const std::lock_guard lock(prepared_->mutex);
  auto& [last, other] = prepared_->layouts;
  const auto fits = [&](const Prepared::Layout& layout) {
    return layout.layers && layout.batch == batch && layout.threads == threads;
  };
  if (!fits(last)) {
    std::swap(last, other);
    if (!fits(last)) last = {batch, threads, std::make_shared<PackedLayers>(pack(batch))};
  }
  return last.layers;
}

InferenceNetwork::PackedLayers InferenceNetwork::pack(std::int64_t batch) const {
  PackedLayers packed(graph().nodes().size());
  const auto reorder = find_operator("mkldnn::_reorder_convolution_weight");
  if (!on_cpu_in_float32() || !at::globalContext().hasMKLDNN() || !reorder ||
      !find_operator("mkldnn::_convolution_pointwise"))
    return packed;
  const c10::NoGradGuard no_grad;
  const std::vector<Node>& nodes = graph().nodes();
  const std::vector<int> uses = graph().use_counts();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if ((node.op == Op::relu || node.op == Op::relu6)) {
      const auto input = static_cast<std::size_t>(node.inputs[0]);
      if (packed[input] && uses[input] == 1 && nodes[input].op == Op::conv) {
        packed[input]->activation = node.op == Op::relu ? "relu" : "hardtanh";
        if (node.op == Op::relu6) packed[input]->scalars = {at::Scalar(0.0), at::Scalar(6.0)};
        packed[i] = std::make_unique<PackedLayer>();
        packed[i]->pass_through = true;
      }
    }
    if (node.op != Op::conv) continue;
    const auto& o = std::get<ConvOptions>(node.options);
    if (!o.padding.symmetric()) continue;
    auto layer = std::make_unique<PackedLayer>();
    layer->padding = {o.padding.top, o.padding.left};
    layer->stride = {o.stride.height, o.stride.width};
    layer->dilation = {o.dilation.height, o.dilation.width};
    layer->groups = o.groups;
    const std::vector<at::Tensor>& t = network_.layers_[i];
    if (o.bias) layer->bias = t[1].detach();
    std::vector<std::int64_t> input_size{batch};
    for (const std::int64_t d : graph().shape({node.inputs[0]})) input_size.push_back(d);
    layer->weight = call(*reorder, {t[0].detach(), layer->padding, layer->stride, layer->dilation,
                                    layer->groups, input_size});
    packed[i] = std::move(layer);
  }
  return packed;
}

const InferenceEngine* InferenceNetwork::engine(int node) const {
  if (!on_cpu_in_float32()) return nullptr;
  const std::lock_guard lock(prepared_->mutex);
  const auto [it, made] = prepared_->engines.try_emplace(node);
  if (made) {
    std::optional<Plan> plan =
        make_plan(graph(), network_.layers_, node, inference_kernels(), precision_, ranges_);
    if (plan)
      it->second = std::make_unique<InferenceEngine>(std::move(*plan));
    else if (precision_ != InferencePrecision::float32)
      refuse_precision("has an operation that runs by torch (local response normalisation)");
  }
  return it->second.get();
}

bool InferenceNetwork::any_batch(std::string_view tap) const {
  return engine(graph().tap_node(tap)) != nullptr;
}

std::vector<InputRanges> InferenceNetwork::input_ranges(const at::Tensor& images,
                                                        std::string_view tap) const {
  const c10::NoGradGuard no_grad;
  std::vector<InputRanges> ranges(static_cast<std::size_t>(images.size(0)));
  const int output_node = graph().tap_node(tap);
  const Network::Override observe = [&](int index, const std::vector<at::Tensor>& values) {
    const Node& node = graph().nodes()[static_cast<std::size_t>(index)];
    if (node.op == Op::conv || node.op == Op::linear) {
      const at::Tensor x = values[static_cast<std::size_t>(node.inputs[0])].flatten(1);
      const auto [low, high] = at::aminmax(x, 1);
      for (std::size_t i = 0; i < ranges.size(); ++i)
        ranges[i][node.name] = {low[static_cast<std::int64_t>(i)].item<float>(),
                                high[static_cast<std::int64_t>(i)].item<float>()};
    }
    return at::Tensor();
  };
  network_.run(images, std::span<const int>(&output_node, 1), false, observe);
  return ranges;
}

std::vector<InferenceStep> InferenceNetwork::time_steps(const at::Tensor& images, int rounds,
                                                        std::string_view tap) const {
  if (rounds < 1) throw std::invalid_argument("rounds is at least 1");
  const InferenceEngine* planned = engine(graph().tap_node(tap));
  if (!planned)
    throw std::invalid_argument(
        "the steps of a network that torch computes are not known (it has local response "
        "normalisation, or is not on the CPU in float32)");
  network_.check_input(images);
  const std::vector<double> seconds = planned->time_steps(images, rounds);
  const Plan& plan = planned->plan();
  std::vector<InferenceStep> result;
  for (std::size_t s = 0; s < seconds.size(); ++s) {
    const Step& step = plan.steps[s];
    const Node& first = graph().nodes()[at_index(step.node)];
    const Node& last = graph().nodes()[at_index(step.order)];
    const auto numbers = [&](int value) {
      const ValueShape& v = plan.values[at_index(value)];
      return v.channels * v.height * v.width;
    };
    std::int64_t floats = step.weights.defined() ? step.weights.numel() : 0;
    for (const int value : {step.in, step.residual, step.out, step.affine})
      if (value >= 0) floats += numbers(value);
    const ValueShape& out = plan.values[at_index(step.result())];
    result.push_back({first.name + (step.node == step.order ? "" : " to " + last.name),
                      step_method(step),
                      {out.channels, out.height, out.width},
                      step.kind == StepKind::patches ? 0 : node_macs(graph(), first),
                      floats * 4,
                      seconds[s]});
  }
  return result;
}

at::Tensor InferenceNetwork::infer(const at::Tensor& images, std::string_view tap) const {
  const c10::NoGradGuard no_grad;
  const int output_node = graph().tap_node(tap);
  network_.check_input(images);
  if (const InferenceEngine* planned = engine(output_node)) return planned->run(images);
  static const auto convolution = find_operator("mkldnn::_convolution_pointwise");
  const std::shared_ptr<const PackedLayers> layers = packed(images.size(0));
  const Network::Override run_packed = [&](int index, const std::vector<at::Tensor>& values) {
    const PackedLayer* layer = (*layers)[static_cast<std::size_t>(index)].get();
    if (!layer) return at::Tensor();
    const Node& node = graph().nodes()[static_cast<std::size_t>(index)];
    const at::Tensor& x = values[static_cast<std::size_t>(node.inputs[0])];
    if (layer->pass_through) return x;
    return call(*convolution,
                {x, layer->weight, layer->bias, layer->padding, layer->stride, layer->dilation,
                 layer->groups, layer->activation, layer->scalars, std::optional<std::string>("")});
  };
  return network_.run(images, std::span<const int>(&output_node, 1), false, run_packed).front();
}

}  // namespace facebench
