#include "facebench/backends/backend.h"

#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace facebench
