#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

// What the ways to fill ManyComparisons share.
namespace facebench {

inline constexpr std::int64_t kShortIds = 1 << 16;  // so many identities have numbers of two bytes

// Finds the segment of a score among descending levels: a table over equal steps of the score gives
// where to begin, the scores themselves decide.
class SegmentFinder {
 public:
  explicit SegmentFinder(const std::vector<double>& level) : level_(level) {
    low_ = level.back();
    scale_ = level.front() > low_ ? kSteps / (level.front() - low_) : 0;
    above_.resize(kSteps + 2);
    std::size_t l = 0;
    for (std::size_t step = kSteps + 1; step-- > 0;) {
      above_[step] = l;  // levels in higher steps
      while (l < level.size() && step_of(level[l]) == step) ++l;
    }
  }
  // 2 l between level l - 1 and level l, 2 l + 1 at level l.
  std::size_t operator()(double score) const {
    std::size_t l = above_[step_of(score)];
    while (l < level_.size() && level_[l] > score) ++l;
    return 2 * l + (l < level_.size() && level_[l] == score);
  }

 private:
  static constexpr std::size_t kSteps = 1 << 16;
  std::size_t step_of(double score) const {
    return static_cast<std::size_t>(
        std::clamp((score - low_) * scale_, 0.0, static_cast<double>(kSteps)));
  }
  const std::vector<double>& level_;
  double low_ = 0, scale_ = 0;
  std::vector<std::size_t> above_;
};

}  // namespace facebench
