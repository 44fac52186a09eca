#include "facebench/metrics/accuracy.h"

#include <gtest/gtest.h>

#include "facebench/metrics/tar_at_far.h"
#include "metrics/by_hand.h"

namespace facebench {
namespace {

TEST(Accuracy, WidestGapOfTheMaximisers) {
  // Training for fold 1: genuine 0.9 0.5, impostor 0.8 0.1. Three of four are right above 0.1 (gap
  // 0.1-0.5, width 0.4) and above 0.8 (gap 0.8-0.9, width 0.1).
  const Scores s{0.9, 0.5, 0.8, 0.1, 0.35, 0.31};
  const Labels l{1, 1, 0, 0, 1, 0};
  const Accuracy a = accuracy(Comparisons(s, l, Folds{0, 0, 0, 0, 1, 1}));
  EXPECT_DOUBLE_EQ(a.fold_threshold[1], 0.3);
  EXPECT_EQ(a.fold_accuracy[1], 0.5);
}

TEST(Accuracy, SpherefaceCountsAScoreAtTheThresholdAsWrong) {
  // Of its grid only 0.5 separates the training scores; both test scores lie on it.
  const Scores s{0.5, 0.5, 0.50005, 0.49995};
  const Labels l{1, 0, 1, 0};
  const Comparisons c(s, l, Folds{0, 0, 1, 1});
  EXPECT_EQ(accuracy(c, "sphereface").fold_accuracy[0], 0);
  EXPECT_EQ(accuracy(c, "sphereface").fold_threshold[0], 0.5);
  EXPECT_EQ(accuracy(c, "sphereface_pytorch").fold_accuracy[0], 0.5);
}

TEST(Accuracy, ArangeIsNumpys) {
  const std::vector<double> grid = arange(-1, 1, 0.005);
  ASSERT_EQ(grid.size(), 400u);
  EXPECT_EQ(grid[1], -0.995);
  // numpy.arange(-1.0, 1.0, 0.005)[399]: the step is -0.995 + 1, not 0.005.
  EXPECT_EQ(grid[399], 0.9950000000000019);
  EXPECT_EQ(arange(0, 4, 0.01).size(), 400u);
  EXPECT_EQ(arange(0, 4, 0.01)[29], 0.29);
  EXPECT_TRUE(arange(1, 0, 0.1).empty());
}

TEST(Accuracy, TablesAreComplete) {
  for (const AccuracyConvention& c : accuracy_conventions().entries()) {
    EXPECT_FALSE(c.doc.empty() || c.source.empty()) << c.name;
    EXPECT_EQ(c.key == nullptr, c.to_score == nullptr) << c.name;
    if (c.key) {
      EXPECT_NEAR(c.to_score(c.key(0.3)), 0.3, 1e-12) << c.name;
    }
  }
  for (const TarAtFarConvention& c : tar_at_far_conventions().entries())
    EXPECT_TRUE(!c.of_curve != !c.of_folds && !c.doc.empty() && !c.source.empty()) << c.name;
}

}  // namespace
}  // namespace facebench
