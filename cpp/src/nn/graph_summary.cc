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
             t.role == TensorRole::scale || t.role == TensorRole::mean;
    case CountRule::weights:
      return t.role == TensorRole::weight;
  }
  throw std::logic_error("counts_under");
}

std::int64_t node_macs(const Graph& graph, const Node& node) {
  if (node.op != Op::conv && node.op != Op::linear) return 0;
  const std::int64_t positions = node.op == Op::conv ? node.shape[1] * node.shape[2] : 1;
  return positions * element_count(graph.tensors(node).front().shape);
}

bool makes_values(const Node& node) { return node.op != Op::input && node.op != Op::flatten; }

}  // namespace

std::vector<std::string> count_rule_names() {
  return {"parameters", "caffe_first_blob", "weights"};
}

CountRule parse_count_rule(std::string_view name) {
  const std::vector<std::string> names = count_rule_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<CountRule>(i);
  throw std::invalid_argument(unknown_name_message("counting rule", name, names));
}

std::int64_t count_parameters(const Graph& graph, CountRule rule) {
  std::int64_t n = 0;
  for (const TensorSpec& t : graph.tensors())
    if (counts_under(rule, t)) n += element_count(t.shape);
  return n;
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
  return text;
}

}  // namespace facebench
