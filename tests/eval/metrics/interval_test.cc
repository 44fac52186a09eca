
#include <gtest/gtest.h>

#include "facebench/core/error.h"

namespace facebench {
namespace {

TEST(Interval, NormalQuantile) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(0.025), -1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-12);
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_THROW(normal_quantile(1), std::invalid_argument);
}

TEST(Interval, Wilson) {
  const Interval i = wilson(9, 10);
  EXPECT_NEAR(i.low, 0.5958499732, 1e-9);
  EXPECT_NEAR(i.high, 0.9821237869, 1e-9);
  EXPECT_EQ(wilson(10, 10).high, 1);
  EXPECT_EQ(wilson(0, 10).low, 0);
  EXPECT_NEAR(wilson(10, 10).low, 1 - wilson(0, 10).high, 1e-11);
  EXPECT_THROW(wilson(3, 2), std::invalid_argument);
  EXPECT_THROW(wilson(1, 2, 1.0), std::invalid_argument);
}

TEST(Components, JoinWhatSharesAnIdentityWithinAFold) {
  const std::vector<std::int32_t> first{0, 1, 5, 2, 0}, second{0, 2, 5, 3, 3}, folds{4, 4, 4, 4, 9};
  const Components c = connected_components({first, second, folds});
  EXPECT_EQ(c.of_comparison, (std::vector<std::int32_t>{0, 1, 2, 1, 3}));
  EXPECT_EQ(c.fold, (std::vector<std::int32_t>{0, 0, 0, 1}));
  EXPECT_EQ(c.identities, 5);
  EXPECT_EQ(c.largest, 2);
  // Without folds the last comparison joins 0 with 3.
  EXPECT_EQ(connected_components({first, second, {}}).of_comparison,
            (std::vector<std::int32_t>{0, 0, 1, 0, 0}));
}

}  // namespace
}  // namespace facebench
