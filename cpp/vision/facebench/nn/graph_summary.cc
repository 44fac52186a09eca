#include "facebench/nn/graph_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "facebench/core/registry.h"

namespace facebench {
namespace {

bool counts_under(CountRule rule, const TensorSpec& t) {
  switch (rule) {
    case CountRule::parameters:
      return t.trainable();
    case CountRule::caffe_first_blob:
      return t.role == TensorRole::weight || t.role == TensorRole::slope ||
             t.role == TensorRole::scale || t.role == TensorRole::mean ||
             t.role == TensorRole::position;
    case CountRule::weights:
      return t.role == TensorRole::weight;
  }
  throw std::logic_error("counts_under");
}

// Pools with sides padded unalike, and such convolutions, read a padded copy of their input.
std::int64_t padded_copy(const Shape& x, const Padding& p) {
  return p.symmetric() ? 0 : x[0] * (x[1] + p.top + p.bottom) * (x[2] + p.left + p.right);
}

// What torch's operation keeps of a node for its gradient.
struct KeptForBackward {
  bool input = false;  // all
  bool output = false;
  std::int64_t numbers = 0;  // of its own, in the network's type
  std::int64_t bytes = 0;    // of its own, in another type
};

KeptForBackward kept_by(const Graph& graph, const Node& node) {
  const auto in = [&]() -> const Shape& {
    return graph.nodes()[static_cast<std::size_t>(node.inputs[0])].shape;
  };
  switch (node.op) {
    case Op::conv: {
      const std::int64_t copy = padded_copy(in(), std::get<ConvOptions>(node.options).padding);
      return {.input = copy == 0, .numbers = copy};
    }
    case Op::max_pool: {
      const std::int64_t copy = padded_copy(in(), std::get<PoolOptions>(node.options).padding);
      // The place of each maximum is an int64.
      return {.input = copy == 0, .numbers = copy, .bytes = 8 * element_count(node.shape)};
    }
    case Op::adaptive_avg_pool:  // to one cell it is a mean, which keeps the shape alone
      return {.input = std::get<AdaptivePoolOptions>(node.options).out != Size2(1)};
    case Op::linear:
    case Op::batch_norm:
    case Op::prelu:
    case Op::relu6:
    case Op::avg_pool:
    case Op::mfm:
    case Op::multiply:
      return {.input = true};
    case Op::relu:
    case Op::sigmoid:
    case Op::tanh:
      return {.output = true};
    case Op::dropout:  // its mask
      return {.numbers =
                  std::get<DropoutOptions>(node.options).p > 0 ? element_count(node.shape) : 0};
    case Op::drop_path:
      return {.numbers = std::get<DropoutOptions>(node.options).p > 0 ? 1 : 0};
    case Op::layer_norm:  // each token's mean and deviation
      return {.input = true, .bytes = 8 * node.shape[0]};
    case Op::attention:  // the logarithm of each query's denominator
      return {.input = true,
              .output = true,
              .bytes = 4 * std::get<AttentionOptions>(node.options).heads * node.shape[0]};
    case Op::lookup:  // the words
      return {.bytes = 8 * node.shape[0]};
    case Op::lstm:  // the work space of oneDNN's operation, as measured
      return {.input = true, .output = true, .numbers = 16 * element_count(node.shape)};
    case Op::lrn: {  // the padded squares, the base and its power
      const std::int64_t n = element_count(in());
      const std::int64_t around = std::get<LrnOptions>(node.options).size - 1;
      return {.input = true, .numbers = 3 * n + around * (n / in()[0])};
    }
    case Op::input:
    case Op::add:
    case Op::scale:
    case Op::concat:
    case Op::flatten:
    case Op::tokens:
    case Op::positions:
      return {};
  }
  throw std::logic_error("kept_by");
}

bool is_view(const Node& node) { return node.op == Op::flatten || node.op == Op::tokens; }
bool makes_values(const Node& node) { return node.op != Op::input && !is_view(node); }

}  // namespace

std::vector<std::string> count_rule_names() {
  return {"parameters", "caffe_first_blob", "weights"};
}

CountRule parse_count_rule(std::string_view name) {
  return static_cast<CountRule>(index_of_name("counting rule", name, count_rule_names()));
}

std::int64_t count_parameters(const Graph& graph, CountRule rule) {
  std::int64_t n = 0;
  for (const TensorSpec& t : graph.tensors())
    if (counts_under(rule, t)) n += element_count(t.shape);
  return n;
}

std::int64_t node_macs(const Graph& graph, const Node& node) {
  if (node.op == Op::attention)  // queries by keys, and their weights by values
    return 2 * node.shape[0] * element_count(node.shape);
  if (node.op == Op::lstm) {
    const std::vector<TensorSpec> t = graph.tensors(node);
    return node.shape[0] * (element_count(t[0].shape) + element_count(t[1].shape));
  }
  if (node.op != Op::conv && node.op != Op::linear) return 0;
  const std::int64_t outputs = node.op == Op::conv ? node.shape[0] : node.shape.back();
  const std::int64_t positions = element_count(node.shape) / outputs;
  return positions * element_count(graph.tensors(node).front().shape);
}

std::int64_t count_macs(const Graph& graph) {
  std::int64_t n = 0;
  for (const Node& node : graph.nodes()) n += node_macs(graph, node);
  return n;
}

std::int64_t count_activations(const Graph& graph) {
  std::int64_t n = 0;
  for (const Node& node : graph.nodes())
    if (makes_values(node)) n += element_count(node.shape);
  return n;
}

std::int64_t training_activation_bytes(const Graph& graph, std::int64_t element) {
  const std::vector<Node>& nodes = graph.nodes();
  std::vector<std::size_t> storage(nodes.size());  // the node whose memory a node's value lies in
  std::vector<bool> kept(nodes.size(), false);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    const auto input = node.inputs.empty() ? i : static_cast<std::size_t>(node.inputs[0]);
    storage[i] = is_view(node) ? storage[input] : i;
    const KeptForBackward k = kept_by(graph, node);
    if (k.input)
      for (const int j : node.inputs) kept[storage[static_cast<std::size_t>(j)]] = true;
    if (k.output) kept[i] = true;
    bytes += k.bytes + element * k.numbers;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (kept[i]) bytes += element * element_count(nodes[i].shape);
  return bytes;
}

std::int64_t peak_activations(const Graph& graph) {
  const std::vector<Node>& nodes = graph.nodes();
  std::vector<int> left = graph.use_counts();
  std::int64_t alive = 0, peak = 0;
  for (const Node& node : nodes) {
    alive += element_count(node.shape);
    peak = std::max(peak, alive);
    for (const int i : node.inputs) {
      const auto input = static_cast<std::size_t>(i);
      if (--left[input] == 0) alive -= element_count(nodes[input].shape);
    }
  }
  return peak;
}

std::string summary(const Graph& graph) {
  std::size_t width = 4;
  for (const Node& node : graph.nodes()) width = std::max(width, node.name.size());
  std::string text = fmt::format("{:<{}}  {:<17}  {:>13}  {:>11}  {:>13}\n", "name", width,
                                 "operation", "output", "parameters", "MAC");
  for (const Node& node : graph.nodes()) {
    std::int64_t parameters = 0;
    for (const TensorSpec& t : graph.tensors(node))
      if (t.trainable()) parameters += element_count(t.shape);
    text +=
        fmt::format("{:<{}}  {:<17}  {:>13}  {:>11}  {:>13}\n", node.name, width, op_name(node.op),
                    shape_text(node.shape), parameters, node_macs(graph, node));
  }
  for (const auto& [tap, node] : graph.taps()) {
    const Node& n = graph.nodes()[static_cast<std::size_t>(node)];
    text += fmt::format("tap {}: {} ({})\n", tap, n.name, shape_text(n.shape));
  }
  text += fmt::format("parameters {}, multiply-accumulates {}, activations {} (peak {})\n",
                      count_parameters(graph), count_macs(graph), count_activations(graph),
                      peak_activations(graph));
  text += fmt::format("a training step in float32 keeps {:.1f} MiB of values an image\n",
                      static_cast<double>(training_activation_bytes(graph)) / (1 << 20));
  return text;
}

}  // namespace facebench
