#include "facebench/metrics/similar_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/metrics/internal/pair_scan.h"

namespace facebench {
namespace {

constexpr std::size_t kMaxPairs = 20'000'000;

class PairCollector final : public PairSink {
 public:
  explicit PairCollector(double threshold) : threshold_(threshold) {}

  double bound() const override { return threshold_; }
  void add(std::span<const ScoredPair> above) override {
    const std::lock_guard lock(mutex_);
    if (pairs.size() + above.size() > kMaxPairs)
      fail("similar pairs",
           fmt::format("more than {} pairs are as similar as {} or more", kMaxPairs, threshold_),
           "Choose a higher threshold.");
    for (const ScoredPair& p : above) pairs.push_back({p.row, p.column, p.score});
  }

  std::vector<SimilarPair> pairs;

 private:
  double threshold_;
  std::mutex mutex_;
};

// All of a side are of one person, the two sides of different ones: every pair counts.
PairSide side_of(const EmbeddingRows& set, std::int32_t identity) {
  set.require_directions();
  PairSide side{&set, std::vector<std::int32_t>(static_cast<std::size_t>(set.size())),
                std::vector<std::int32_t>(static_cast<std::size_t>(set.size()), identity)};
  std::iota(side.order.begin(), side.order.end(), 0);
  return side;
}

}  // namespace

std::vector<SimilarPair> similar_pairs(const EmbeddingRows& rows, const EmbeddingRows& columns,
                                       double threshold, const Job& job) {
  if (rows.dim() != columns.dim())
    throw std::invalid_argument(fmt::format("embeddings of dimension {} cannot be compared with {}",
                                            rows.dim(), columns.dim()));
  if (rows.size() == 0 || columns.size() == 0) return {};
  // The columns are packed as a whole, so the smaller set becomes the columns.
  const bool swap = columns.size() > rows.size();
  PairCollector collector(threshold);
  std::vector<std::int64_t> no_counts;
  scan_pairs(side_of(swap ? columns : rows, 0), side_of(swap ? rows : columns, 1), false, {},
             collector, no_counts, job);
  if (swap)
    for (SimilarPair& p : collector.pairs) std::swap(p.row, p.column);
  std::ranges::sort(collector.pairs, [](const SimilarPair& a, const SimilarPair& b) {
    if (a.score != b.score) return a.score > b.score;
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
  return std::move(collector.pairs);
}

}  // namespace facebench
