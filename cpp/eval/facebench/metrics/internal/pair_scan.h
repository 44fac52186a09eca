#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/shard.h"
#include "facebench/metrics/embedding_rows.h"

namespace facebench {

// One side of a comparison of all with all, in ascending order of identity, so that genuine
// comparisons lie in few tiles.
struct PairSide {
  const EmbeddingRows* set = nullptr;
  std::vector<std::int32_t> order;     // rows of the set
  std::vector<std::int32_t> identity;  // of each in that order
};

// Rows of the two sets, and their exact score.
struct ScoredPair {
  double score;
  std::int32_t row, column;
};

// Receives what a scan finds; called on any thread.
class PairSink {
 public:
  virtual ~PairSink() = default;
  // Pairs with a lower score are not wanted. May rise.
  virtual double bound() const = 0;
  // Pairs at or above the bound, which may have risen since.
  virtual void add(std::span<const ScoredPair> pairs) = 0;
};

// Gives the sink the exact score of every impostor comparison that may lie at or above its
// bound, each comparison once, and counts all of them into `counted`, equal bins from -1 to 1 (may
// be empty), by their score in low precision. `triangle`: rows and columns are the same, each
// unordered pair counts once. Only the shard's blocks of the matrix, which differ by instruction
// set. Returns the bound of the error of low precision.
double scan_pairs(const PairSide& rows, const PairSide& columns, bool triangle, const Shard& shard,
                  PairSink& sink, std::vector<std::int64_t>& counted, const Job& job);

}  // namespace facebench
