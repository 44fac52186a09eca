#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/metrics/all_pairs.h"
#include "facebench/trials/dense_trials.h"
#include "facebench/trials/internal/trial_parts.h"
#include "facebench/trials/scores.h"
#include "facebench/trials/scoring.h"

// All pairs whose scores are too many to keep.
namespace facebench {

// The cosines of a dense track without a mask, and what a FAR of `far` needs of them. Comparisons
// with a failed side have failed_score() and count.
class ManyPairs {
 public:
  // `trials` and `units` must live as long.
  ManyPairs(const DenseTrials& trials, const UnitEmbeddings& units, double far);

  // Of the embeddings, who they are and what is kept of them: shards of equal ones belong together.
  std::string sha256() const;
  AllPairsShard shard(const Shard& shard, const Job& job) const;
  Scores tail(const Job& job) const;
  // The same of what shards found.
  Scores tail_of(std::vector<AllPairsShard> shards) const;

 private:
  template <class OfTriangle, class OfBoth>
  auto score(const OfTriangle& of_triangle, const OfBoth& of_both, const Job& job) const;
  Scores with_failed(ScoreTail tail) const;

  const DenseTrials& trials_;
  const UnitEmbeddings& units_;
  double far_;
  EnrolledUnits left_, right_;  // without a second side of a triangle
  std::int64_t enrolled_;       // comparisons without a failed side
  std::int64_t impostors_;      // of all comparisons
  AllPairsOptions options_;
};

// The tail without comparisons of what is left out, all of which failed; `impostors` are left.
ScoreTail without_left_out(const ScoreTail& tail, const TrackSide& rows, const TrackSide& columns,
                           std::int64_t impostors);

}  // namespace facebench
