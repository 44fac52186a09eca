#include "facebench/metrics/tar_at_far.h"

#include <gtest/gtest.h>

#include "metrics/by_hand.h"

namespace facebench {
namespace {

TEST(TarAtFar, NeverExceedsTheTargetAndGroupsTies) {
  // One of five impostors may pass at 0.2; the next group (0.7) would add one more.
  const TarAtFar cell = tar_at_far(Comparisons(scores, labels), 0.2);
  EXPECT_EQ(cell.value, 0.25);
  EXPECT_EQ(cell.false_accepts, 1);
  EXPECT_EQ(cell.far_achieved, 0.2);
  EXPECT_EQ(cell.threshold, 0.75);
  EXPECT_EQ(cell.expected_false_accepts, 1);
  EXPECT_FALSE(cell.reliable);
  EXPECT_EQ(tar_at_far(Comparisons(scores, labels), 0.39).value, 0.25);
  EXPECT_EQ(tar_at_far(Comparisons(scores, labels), 0.4).value, 0.75);
}

TEST(TarAtFar, UnreachableTargetAcceptsNothing) {
  const TarAtFar cell = tar_at_far(Comparisons(Scores{0.9, 0.9, 0.1}, Labels{1, 0, 0}), 0);
  EXPECT_EQ(cell.value, 0);
  EXPECT_GT(cell.threshold, 0.9);
}

}  // namespace
}  // namespace facebench
