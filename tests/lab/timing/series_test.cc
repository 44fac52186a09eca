#include "facebench/timing/series.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "facebench/timing/process_meter.h"
#include "io/helpers.h"

namespace facebench {
namespace {

// --- series
// ---------------------------------------------------------------------------------------

TEST(Series, ByHand) {
  // Two skipped; 1 2 3 4 10 are left.
  const std::vector<double> times{9, 5, 4, 1, 3, 2, 10};
  const SeriesSummary s = summarize_times(times, {.skip = 2});
  EXPECT_EQ(s.skipped, 2);
  EXPECT_EQ(s.first, 9);
  EXPECT_EQ(s.skipped_mean, 7);
  EXPECT_EQ(s.count, 5);
  EXPECT_EQ(s.mean, 4);
  EXPECT_EQ(s.median, 3);
  EXPECT_NEAR(s.p95, 4 + 0.8 * 6, 1e-12);  // position 3.8 of 0..4
  EXPECT_NEAR(s.sd, std::sqrt((9 + 4 + 1 + 0 + 36) / 4.0), 1e-12);
  EXPECT_EQ(s.low, 1);
  EXPECT_EQ(s.high, 10);
  EXPECT_LE(s.mean_interval.low, 4);
  EXPECT_GE(s.mean_interval.high, 4);
}

TEST(Series, ShortOnesKeepTheirLastTime) {
  const std::vector<double> times{3, 2};
  const SeriesSummary s = summarize_times(times, {.skip = 10});
  EXPECT_EQ(s.skipped, 1);
  EXPECT_EQ(s.count, 1);
  EXPECT_EQ(s.mean, 2);
  EXPECT_TRUE(std::isnan(s.sd));
  EXPECT_TRUE(std::isnan(s.mean_interval.low));
}

TEST(Series, RefusesWhatIsNoTime) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {nan, -1.0, std::numeric_limits<double>::infinity()}) {
    const std::vector<double> times{1, bad};
    EXPECT_THROW(summarize_times(times), std::invalid_argument);
  }
  EXPECT_THROW(summarize_times(std::vector<double>{}), std::invalid_argument);
}

TEST(Series, BlocksAreLongerThanSingleDrawsWhereNeighboursResembleEachOther) {
  // Slow for 100 iterations, fast for 100: drawn one by one the mean's interval has a half width of
  // 1.96 * 0.5 / sqrt(200) = 0.07; whole blocks of 6 make it sqrt(6) times as wide.
  std::vector<double> times(200, 1.0);
  std::fill(times.begin() + 100, times.end(), 2.0);
  const SeriesSummary s = summarize_times(times, {.skip = 0});
  const double half = (s.mean_interval.high - s.mean_interval.low) / 2;
  EXPECT_GT(half, 0.12);
  EXPECT_LT(half, 0.23);
}

TEST(Series, RepeatSpread) {
  EXPECT_NEAR(repeat_spread(std::vector<double>{1.0, 1.1, 1.05}), 0.1 / 1.05, 1e-12);
  EXPECT_TRUE(std::isnan(repeat_spread(std::vector<double>{1.0})));
}

}  // namespace
}  // namespace facebench
