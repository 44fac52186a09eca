#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/roc.h"
#include "facebench/metrics/summary.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {
namespace {

using Labels = std::vector<std::uint8_t>;
using Scores = std::vector<double>;
using Folds = std::vector<std::int32_t>;

// By hand: genuine 0.9 0.7 0.7 0.2, impostor 0.8 0.7 0.3 0.1 0.1.
const Scores scores{0.9, 0.7, 0.7, 0.2, 0.8, 0.7, 0.3, 0.1, 0.1};
const Labels labels{1, 1, 1, 1, 0, 0, 0, 0, 0};

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

TEST(Comparisons, NamesTheFirstIndexAtFault) {
  const auto message = [](const Scores& s, const Labels& l) -> std::string {
    try {
      Comparisons c(s, l);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message({0, std::nan(""), std::nan("")}, {0, 0, 1}).find("score [1]"),
            std::string::npos);
  EXPECT_NE(message({0, 1}, {0, 7}).find("label [1] is 7"), std::string::npos);
  EXPECT_NE(message({0, 1}, {0}).find("2 scores but 1 labels"), std::string::npos);
  EXPECT_NE(message({}, {}).find("no comparisons"), std::string::npos);
}

TEST(Comparisons, KeepsTheOrderOfTies) {
  const Comparisons c(Scores{1, 2, 1, 2}, Labels{0, 1, 1, 0}, Folds{7, -3, 7, 7});
  EXPECT_EQ(std::vector<std::uint32_t>(c.index().begin(), c.index().end()),
            (std::vector<std::uint32_t>{1, 3, 0, 2}));
  EXPECT_EQ(c.fold_names()[0], -3);
  EXPECT_EQ(c.fold_members(1).size(), 3u);
}

TEST(Comparisons, ThresholdsSeparateNeighbouringDoubles) {
  const double low = 0.5, high = std::nextafter(0.5, 1);
  EXPECT_EQ(threshold_between(low, high), high);
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(threshold_between(-huge, huge), 0);
  EXPECT_EQ(threshold_between(0.9 * huge, huge) > 0.9 * huge, true);
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(threshold_between(0, tiny), tiny);
  EXPECT_GT(threshold_above(3), 3);
}

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
