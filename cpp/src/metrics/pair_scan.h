#pragma once

#include <cstdint>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/metrics/embedding_rows.h"
#include "metrics/tail_collector.h"

namespace facebench {

// One side of a comparison of all with all, in ascending order of identity, so that genuine
// comparisons lie in few tiles.
struct PairSide {
  const EmbeddingRows* set = nullptr;
  std::vector<std::int32_t> order;     // rows of the set
  std::vector<std::int32_t> identity;  // of each in that order
};

// Gives the collector the exact score of every impostor comparison that may lie at or above its
// bound, each comparison once, and counts all of them into `counted`, equal bins from -1 to 1 (may
// be empty), by their score in low precision. `triangle`: rows and columns are the same, each
// unordered pair counts once. Returns the bound of the error of low precision.
double scan_pairs(const PairSide& rows, const PairSide& columns, bool triangle,
                  TailCollector& collector, std::vector<std::int64_t>& counted, const Job& job);

}  // namespace facebench
