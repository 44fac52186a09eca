#include "facebench/metrics/summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "metrics/by_hand.h"

namespace facebench {
namespace {

TEST(Summary, HandWorked) {
  const ScoreSummary s = summarize(Scores{3, 5, 0, 2}, Labels{1, 1, 0, 0});
  EXPECT_EQ(s.genuine.mean, 4);
  EXPECT_EQ(s.impostor.mean, 1);
  EXPECT_DOUBLE_EQ(s.dprime, 3 / std::sqrt(2.0));
  const ScoreHistogram h = histogram(Scores{0, 0.5, 1, 1}, Labels{0, 0, 1, 0}, 2);
  EXPECT_EQ(h.impostor, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(h.genuine, (std::vector<std::int64_t>{0, 1}));
}

}  // namespace
}  // namespace facebench
