#include "facebench/metrics/comparison_graph.h"

#include <algorithm>

#include "facebench/core/disjoint_sets.h"
#include "facebench/metrics/internal/comparison_graphs.h"

namespace facebench {

Components connected_components(const ComparisonGraph& graph) {
  check_graph(graph);
  const std::size_t n = graph.first.size();
  // The same identity in two folds is two vertices.
  const auto vertex = [&](std::size_t i, std::int32_t identity) {
    const std::int64_t fold = graph.folds.empty() ? 0 : graph.folds[i];
    return fold * (std::int64_t{1} << 32) + identity;
  };
  std::vector<std::int64_t> vertices;
  std::vector<std::int32_t> identities;
  for (std::size_t i = 0; i < n; ++i) {
    for (const std::int32_t identity : {graph.first[i], graph.second[i]}) {
      vertices.push_back(vertex(i, identity));
      identities.push_back(identity);
    }
  }
  sort_unique(vertices);
  sort_unique(identities);

  DisjointSets connected(vertices.size());
  std::vector<std::int32_t> first(n);
  for (std::size_t i = 0; i < n; ++i) {
    first[i] = position(vertices, vertex(i, graph.first[i]));
    connected.join(first[i], position(vertices, vertex(i, graph.second[i])));
  }

  std::vector<std::int32_t> folds(graph.folds.begin(), graph.folds.end());
  sort_unique(folds);
  Components result;
  result.identities = static_cast<std::int64_t>(identities.size());
  result.of_comparison.resize(n);
  std::vector<std::int32_t> number(vertices.size(), -1);
  std::vector<std::int64_t> members;
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t& c = number[connected.least(first[i])];
    if (c < 0) {
      c = result.count();
      result.fold.push_back(graph.folds.empty() ? 0 : position(folds, graph.folds[i]));
      members.push_back(0);
    }
    result.of_comparison[i] = c;
    result.largest = std::max(result.largest, ++members[c]);
  }
  return result;
}

}  // namespace facebench
