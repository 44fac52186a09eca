#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "facebench/metrics/comparison_graph.h"

// What the components of a graph and the draws of its identities share.
namespace facebench {

// Throws std::invalid_argument as connected_components() does.
inline void check_graph(const ComparisonGraph& graph) {
  const std::size_t n = graph.first.size();
  if (n == 0) throw std::invalid_argument("the comparison graph is empty");
  if (graph.second.size() != n || (!graph.folds.empty() && graph.folds.size() != n))
    throw std::invalid_argument(
        fmt::format("the comparison graph has {} first and {} second identities and {} folds", n,
                    graph.second.size(), graph.folds.size()));
  for (std::size_t i = 0; i < n; ++i)
    if (graph.first[i] < 0 || graph.second[i] < 0)
      throw std::invalid_argument(fmt::format("the identity of comparison [{}] is negative", i));
}

template <class T>
void sort_unique(std::vector<T>& v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

template <class T>
std::int32_t position(const std::vector<T>& sorted, T value) {
  return static_cast<std::int32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) -
                                   sorted.begin());
}

}  // namespace facebench
