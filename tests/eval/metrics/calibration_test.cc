#include "facebench/metrics/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "facebench/metrics/roc.h"

namespace facebench {
namespace {

using Labels = std::vector<std::uint8_t>;
using Scores = std::vector<double>;

TEST(Calibration, HandWorked) {
  // log2(1 + e^-s) = 1 where s = 0; a likelihood ratio of 3 for and against costs log2(4/3) each.
  EXPECT_DOUBLE_EQ(cllr(Comparisons(Scores{0, 0}, Labels{1, 0})), 1);
  EXPECT_DOUBLE_EQ(cllr(Comparisons(Scores{std::log(3), -std::log(3)}, Labels{1, 0})),
                   std::log2(4.0 / 3));
  // Three of four right on both sides: blocks with likelihood ratios 3 and 1/3.
  const Scores s{2, 2, 2, 1, 2, 1, 1, 1};
  const Labels y{1, 1, 1, 1, 0, 0, 0, 0};
  EXPECT_DOUBLE_EQ(min_cllr(Comparisons(s, y).roc()), 0.75 * std::log2(4.0 / 3) + 0.25 * 2);
  // The ends are certain and cost nothing; between them one of each class, with likelihood ratio 1.
  EXPECT_DOUBLE_EQ(min_cllr(Comparisons(Scores{3, 2, 1, 0}, Labels{1, 0, 1, 0}).roc()), 0.5);
  EXPECT_EQ(min_cllr(Comparisons(Scores{1, 1}, Labels{0, 1}).roc()), 1);
  EXPECT_EQ(min_cllr(Comparisons(Scores{1, 2}, Labels{1, 0}).roc()), 1);
  EXPECT_THROW(min_cllr(Comparisons(Scores{1, 2}, Labels{1, 1}).roc()), std::invalid_argument);
}

TEST(Det, NamesOfTheStandard) {
  const Comparisons c(Scores{0.9, 0.8, 0.7, 0.1}, Labels{1, 0, 1, 0});
  EXPECT_EQ(det(c.roc()).fnmr, (std::vector<double>{1, 0.5, 0.5, 0, 0}));
}

}  // namespace
}  // namespace facebench
