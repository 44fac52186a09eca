#include "facebench/backends/backend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "facebench/backends/logistic_fusion.h"
#include "facebench/backends/score_normalisation.h"

namespace facebench {
namespace {

// Two people at -1 and 1 with two images each, +-0.5 around: worked by hand.
RowMatrix<double> rows() {
  RowMatrix<double> x(4, 1);
  x << -1.5, -0.5, 0.5, 1.5;
  return x;
}
const std::vector<std::int32_t> kPerson = {7, 7, 3, 3};

TEST(Backend, CosineStandsWhereNoStepScores) {
  EXPECT_EQ(backend_text(parse_backend("pca=2,whiten")), "pca=2,whiten=zca,cosine");
}

TEST(Backend, MahalanobisByHand) {
  // Variance within: 4 * 0.25 / 4.
  const Backend b = fit_backend("mahalanobis", rows(), kPerson);
  EXPECT_NEAR(b.score(rows().topRows(1), rows().bottomRows(1))[0], -9 / 0.25, 1e-9);
  EXPECT_EQ(b.people, 2);
}

TEST(Backend, PldaByHand) {
  // Balanced, of one dimension: within = sum of squares within / (people * (images - 1)) = 0.5,
  // between = mean square of the people's means - within / images = 0.75.
  const Backend b = fit_backend("plda:iterations=5000", rows(), kPerson);
  const double f = b.cross[0] / (1 - 2 * b.cross[0]);
  EXPECT_NEAR(f, 0.75 / 0.5, 1e-3);
}

TEST(Backend, MatrixRefTakesOtherMemoryAsItIs) {
  const double values[] = {1, 2, 3, 4, 5, 6};
  const MatrixRef<double> seen = MatrixView<double>(values, 2, 3);
  EXPECT_EQ(seen.data(), values);
  EXPECT_EQ(seen(1, 0), 4);
}

TEST(LogisticFusion, OfOneInputWithTwoValuesByHand) {
  // 3 of 4 genuine comparisons have 1, and 1 of 4 impostors: the ratios are 3 and 1/3 at any prior.
  RowMatrix<double> x(8, 2);
  x << 1, 5, 1, 5, 1, 5, 0, 5, 1, 5, 0, 5, 0, 5, 0, 5;  // the second says nothing
  const std::vector<std::uint8_t> genuine = {1, 1, 1, 1, 0, 0, 0, 0};
  for (const double prior : {0.5, 0.01}) {
    const LogisticFusion fusion = fit_logistic_fusion(x, genuine, prior);
    EXPECT_NEAR(fusion.apply(std::vector<double>{1, 5}), std::log(3), 1e-6);
    EXPECT_NEAR(fusion.apply(std::vector<double>{0, 5}), -std::log(3), 1e-6);
  }
  EXPECT_THROW(fit_logistic_fusion(x, genuine, 1), std::invalid_argument);
  EXPECT_THROW(fit_logistic_fusion(x, std::vector<std::uint8_t>(8, 1)), std::invalid_argument);
}

TEST(ScoreNormalisation, ByHand) {
  // Scores of 1 with the cohort: -1, -4, -9 times 1 / variance; of 2: 0, -1, -4.
  const Backend b = fit_backend("mahalanobis", rows(), kPerson);
  RowMatrix<double> x(2, 1), cohort(3, 1);
  x << 1, 2;
  cohort << 2, 3, 4;
  const BackendSide side = b.side(x), others = b.side(cohort);
  const CohortScores all = cohort_scores(b, side, others, 0),
                     two = cohort_scores(b, side, others, 2);
  EXPECT_NEAR(all.mean[0], -14 / 3.0 / 0.25, 1e-9);
  EXPECT_NEAR(two.mean[1], -0.5 / 0.25, 1e-9);
  EXPECT_NEAR(two.deviation[1], std::sqrt(0.5) / 0.25, 1e-9);
  const double z = normalised(parse_normalisation("z-norm:top=2"), -4, two, 0, two, 1);
  EXPECT_NEAR(z, (-4 - -2.5 / 0.25) / (std::sqrt(4.5) / 0.25), 1e-9);
}

}  // namespace
}  // namespace facebench
