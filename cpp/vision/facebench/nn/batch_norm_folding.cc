#include "facebench/nn/batch_norm_folding.h"

#include <utility>

namespace facebench {

FoldedGraph fold_batch_norm(const Graph& graph) {
  const std::vector<Node>& nodes = graph.nodes();
  const std::vector<int> uses = graph.use_counts();
  FoldedGraph result;
  std::vector<std::pair<int, BatchNormOptions>> norm_of(nodes.size(), {-1, {}});  // by layer
  std::vector<bool> gone(nodes.size(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if (node.op == Op::dropout || node.op == Op::drop_path) gone[i] = true;
    if (node.op != Op::batch_norm) continue;
    const auto layer = static_cast<std::size_t>(node.inputs[0]);
    const bool linear = nodes[layer].op == Op::conv || nodes[layer].op == Op::linear;
    if (!linear || uses[layer] != 1) continue;
    norm_of[layer] = {static_cast<int>(i), std::get<BatchNormOptions>(node.options)};
    gone[i] = true;
  }

  std::vector<int> place(nodes.size());  // of each old node's value in the new graph
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node node = nodes[i];
    for (int& input : node.inputs) input = place[static_cast<std::size_t>(input)];
    if (gone[i]) {
      place[i] = node.inputs[0];
      continue;
    }
    if (const auto& [norm, options] = norm_of[i]; norm >= 0) {
      bool& bias = node.op == Op::conv ? std::get<ConvOptions>(node.options).bias
                                       : std::get<LinearOptions>(node.options).bias;
      result.folds.push_back(
          {node.name, nodes[static_cast<std::size_t>(norm)].name, bias, options});
      bias = true;
    }
    place[i] = result.graph.append(std::move(node)).node;
  }
  for (const auto& [name, node] : graph.taps())
    result.graph.tap(name, {place[static_cast<std::size_t>(node)]});
  return result;
}

}  // namespace facebench
