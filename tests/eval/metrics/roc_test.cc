#include "facebench/metrics/roc.h"

#include <gtest/gtest.h>

#include <limits>

#include "metrics/by_hand.h"

namespace facebench {
namespace {

RocCurve roc(const Scores& s, const Labels& l) { return Comparisons(s, l).roc(); }

TEST(Roc, PointsOfAHandWorkedExample) {
  const RocCurve c = roc(scores, labels);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(c.threshold, (Scores{inf, 0.9, 0.8, 0.7, 0.3, 0.2, 0.1}));
  EXPECT_EQ(c.true_accepts, (std::vector<std::int64_t>{0, 1, 1, 3, 3, 4, 4}));
  EXPECT_EQ(c.false_accepts, (std::vector<std::int64_t>{0, 0, 1, 2, 3, 3, 5}));
  EXPECT_EQ(c.fnr().front(), 1);
  EXPECT_EQ(c.fpr()[3], 0.4);
}

TEST(Roc, AreaOfAHandWorkedExample) {
  // Pairs won: 0.9 beats 5; each 0.7 beats 3 and ties 1; 0.2 beats 2: 5 + 7 + 2 = 14 of 20.
  EXPECT_EQ(auc(roc(scores, labels)), 14.0 / 20);
}

TEST(Roc, EqualErrorRateOfAHandWorkedExample) {
  // (FPR, FNR): ... (0.2, 0.75), (0.4, 0.25): the joining line meets the diagonal at 11/14 of the
  // way, 0.2 + 0.2 * 11/14.
  EXPECT_NEAR(eer(roc(scores, labels)), 0.2 + 0.2 * 11 / 14, 1e-15);
}

TEST(Roc, PerfectAndInvertedScores) {
  const Scores s{0.9, 0.8, 0.2, 0.1};
  EXPECT_EQ(eer(roc(s, Labels{1, 1, 0, 0})), 0);
  EXPECT_EQ(auc(roc(s, Labels{1, 1, 0, 0})), 1);
  EXPECT_EQ(eer(roc(s, Labels{0, 0, 1, 1})), 1);
  EXPECT_EQ(auc(roc(s, Labels{0, 0, 1, 1})), 0);
  EXPECT_EQ(auc(roc(Scores{1, 1, 1, 1}, Labels{0, 1, 0, 1})), 0.5);
}

}  // namespace
}  // namespace facebench
