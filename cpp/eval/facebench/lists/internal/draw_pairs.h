#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "facebench/core/random.h"

namespace facebench {

// The pairs of samples with from <= |yaw a - yaw b| < below. They are counted and numbered without
// being listed: memory grows with the samples.
class YawPairs {
 public:
  // `person` are numbers from 0, one a sample, as `yaw`.
  YawPairs(std::span<const std::int32_t> person, std::span<const double> yaw, double from,
           double below);

  // How many there are of one person (`genuine`) or of two.
  std::int64_t count(bool genuine) const;
  // `wanted` different ones (a < b), sorted, each set equally likely. Throws std::invalid_argument
  // for more than there are.
  std::vector<std::pair<std::int32_t, std::int32_t>> draw(bool genuine, std::int64_t wanted,
                                                          Random& random) const;

 private:
  // Samples in the order of their yaw. For each the partners behind it whose yaw is larger by from
  // to below: a run that starts at begin, since the difference grows along the order.
  struct Partners {
    std::vector<std::int32_t> order;
    std::vector<std::int64_t> begin, sum;  // sum: of the runs' lengths, one more than samples
  };
  static Partners partners(std::vector<std::int32_t> order, std::span<const double> yaw,
                           double from, double below);
  static std::pair<std::int32_t, std::int32_t> pair_at(const Partners& p, std::int64_t rank);

  std::vector<std::int32_t> person_;
  Partners every_;
  std::vector<Partners> same_;          // one a person
  std::vector<std::int64_t> same_sum_;  // of their pairs, one more than people
};

}  // namespace facebench
