#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "facebench/metrics/internal/pair_scan.h"
#include "facebench/metrics/score_tail.h"

namespace facebench {

// Keeps the `wanted` highest of any number of scores, in bounded memory whatever the scores: those
// equal to the lowest kept one are counted, not stored. What is kept does not depend on the order
// in which scores come.
class TailCollector final : public PairSink {
 public:
  using Entry = ScoredPair;
  // Descending scores, equal ones by row, then column.
  static bool before(const Entry& a, const Entry& b) {
    return a.score != b.score ? a.score > b.score
                              : std::pair(a.row, a.column) < std::pair(b.row, b.column);
  }

  // Scores below `bound` are not looked at; -infinity for none. So many equal to it have been seen.
  TailCollector(std::int64_t wanted, double bound, std::int64_t equal = 0);

  // A score below this cannot be among the wanted ones. Rises; for any thread.
  double bound() const override { return bound_.load(std::memory_order_relaxed); }
  // For any thread.
  void add(std::span<const Entry> entries) override;

  // Whether at least `wanted` scores have come; where not, the first bound was too high.
  bool complete() const { return count() >= wanted_; }
  // What has come above the bound, in order, and its rows and columns; impostor_reach counts what
  // is equal to the bound too.
  void list_above(ScoreTail& tail);
  // Fills in what ScoreTail says of impostors, their number excepted.
  void finish(ScoreTail& tail);

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(above_.size()) + equal_; }
  void compact();

  std::int64_t wanted_;
  std::size_t capacity_;
  std::mutex mutex_;
  std::atomic<double> bound_;
  std::vector<Entry> above_;  // scores above bound_
  std::int64_t equal_ = 0;    // scores equal to bound_
};

}  // namespace facebench
