#pragma once

#include <cstdint>
#include <vector>

#include "facebench/metrics/summary.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {

// What is kept of the scores of more comparisons than can be stored: every genuine score, the
// highest impostor scores, and counts of the rest.
struct ScoreTail {
  std::vector<double> genuine;   // all, descending
  std::vector<double> impostor;  // the highest, descending
  // Who was compared: row and column of each genuine score, and of each impostor score above
  // impostor.back() (of all where none was left out); equal scores in an order that depends only on
  // what was compared. Of one set with itself the row is the smaller.
  std::vector<std::int32_t> genuine_row, genuine_column;
  std::vector<std::int32_t> impostor_row, impostor_column;
  // Impostor comparisons with a score at or above impostor.back(). Larger than impostor.size() only
  // where the scores equal to impostor.back() were too many to keep.
  std::int64_t impostor_reach = 0;
  std::int64_t impostor_count = 0;  // all impostor comparisons
  // Of all comparisons, from -1 to 1; no bins where none were asked for. Exact for the genuine ones
  // and, for the impostors, in the bins above the one that impostor.back() falls into. In the
  // others an impostor may be counted as if its score were up to histogram_blur higher or lower.
  ScoreHistogram histogram;
  double histogram_blur = 0;
  bool operator==(const ScoreTail&) const = default;
};

// Throws std::invalid_argument, naming what is wrong, for a tail from elsewhere that cannot be
// one: lists of lengths that do not fit, scores out of order, counts that contradict each other.
void check_tail(const ScoreTail& tail);

// The most impostor comparisons that may be accepted at a FAR: the largest k with k /
// impostor_count (as a double) <= far.
std::int64_t allowed_false_accepts(double far, std::int64_t impostor_count);

// The TAR at a FAR under the convention "exact", the same to the bit as from all the scores. Throws
// std::invalid_argument for a far outside [0, 1] and where there are no genuine or no impostor
// comparisons, and Error where the tail does not reach that far down.
TarAtFar tar_at_far(const ScoreTail& tail, double far);

}  // namespace facebench
