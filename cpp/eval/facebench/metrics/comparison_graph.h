#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace facebench {

// Who is compared with whom: identities are the vertices, comparisons the edges. Comparison i is of
// identity first[i] with identity second[i] (the same for a genuine one), numbers >= 0.
struct ComparisonGraph {
  std::span<const std::int32_t> first;
  std::span<const std::int32_t> second;
  std::span<const std::int32_t> folds;  // empty = one fold
};

// Connected components within each fold: comparisons in different ones share no identity.
struct Components {
  std::vector<std::int32_t> of_comparison;  // numbers from 0, by first appearance
  std::vector<std::int32_t> fold;           // of each component, as numbers from 0
  std::int64_t identities = 0;
  std::int64_t largest = 0;  // comparisons in the largest component
  int count() const { return static_cast<int>(fold.size()); }
};
// Throws std::invalid_argument for lengths that differ, an empty graph and a negative identity.
Components connected_components(const ComparisonGraph& graph);

}  // namespace facebench
