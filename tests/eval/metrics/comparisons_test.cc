#include "facebench/metrics/comparisons.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "metrics/by_hand.h"

namespace facebench {
namespace {

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

}  // namespace
}  // namespace facebench
