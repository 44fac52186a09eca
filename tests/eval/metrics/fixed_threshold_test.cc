#include "facebench/metrics/fixed_threshold.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "facebench/metrics/tar_at_far.h"

namespace facebench {
namespace {

using Labels = std::vector<std::uint8_t>;
using Scores = std::vector<double>;

TEST(FixedThreshold, CountsAtAThresholdOfAnotherSet) {
  const Comparisons tuned(Scores{0.9, 0.8, 0.3, 0.1}, Labels{1, 1, 0, 0});
  const Comparisons other(Scores{0.9, 0.4, 0.8, 0.7, 0.1}, Labels{1, 1, 1, 0, 0});
  const FixedThreshold rates = rates_at(other, tar_at_far(tuned, 0.1).threshold);
  EXPECT_EQ(rates.false_matches, 1);
  EXPECT_EQ(rates.false_non_matches, 1);
  EXPECT_EQ(rates.fmr_interval.low, wilson(1, 2).low);
}

}  // namespace
}  // namespace facebench
