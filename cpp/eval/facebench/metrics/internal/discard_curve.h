#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/metrics/discard.h"
#include "facebench/metrics/statistic.h"

namespace facebench {

// The comparisons that every quality is judged on: who is in them, and how their scores rank.
struct RankedComparisons {
  std::span<const std::uint8_t> labels;
  std::vector<std::int32_t> first_person, second_person;  // numbers from 0 among those compared
  std::vector<std::uint32_t> rank;  // of the score among the distinct ones; 1 is the highest
  std::uint32_t ranks = 0;
  std::vector<std::uint8_t> wrong;          // genuine comparisons below the threshold
  std::vector<std::int32_t> sample_person;  // of each sample that is compared; else -1

  std::int64_t weight(std::size_t comparison, std::span<const Weight> people) const;
};

// The curve of one quality, for any weights of people.
class DiscardCurve {
 public:
  DiscardCurve(const RankedComparisons& comparisons, const SampleComparisons& from,
               const SampleQuality& quality, const DiscardOptions& options);

  // One weight a person (empty: 1 each), up to the first point at or beyond `limit`.
  RejectCurve evaluate(std::span<const Weight> people, double limit = 1) const;

 private:
  struct Member {
    std::uint32_t level, comparison;
  };
  std::vector<std::uint32_t> levels_of(std::span<const double> keys) const;

  const RankedComparisons& comparisons_;
  double far_;
  bool chosen_again_;
  std::vector<double> levels_;  // distinct qualities of what is discarded, ascending
  // What is discarded, by level: persons of images, or genuine comparisons.
  std::vector<Member> units_;
  bool units_are_images_;
  std::vector<Member> genuine_, impostor_;  // by level
};

}  // namespace facebench
