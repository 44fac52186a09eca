#include "facebench/timing/iteration.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "facebench/timing/proc.h"
#include "facebench/timing/process_meter.h"
#include "io/helpers.h"

namespace facebench {
namespace {

// --- equations
// ------------------------------------------------------------------------------------

TEST(Equations, SixIsThePapers) {
  // Wang & Guo 2019, section 4.3: Caffe's VGG-16, 79, 156 and 316 images/s on 1, 2 and 4 GPUs:
  // 97 % (as printed) and 102.6 % (printed 103 %).
  EXPECT_NEAR(scaling_speedup(79, 156), 0.9747, 1e-4);
  EXPECT_NEAR(scaling_speedup(156, 316), 1.0256, 1e-4);
  EXPECT_EQ(scaling_speedup(10, 10), 0);
  EXPECT_THROW(scaling_speedup(0, 1), std::invalid_argument);
}

TEST(Equations, SevenAndEightByHand) {
  // Alone: 3 s of data, 10 s of computing, 2 s of aggregation.
  const IterationModel none = iteration_model(3, 10, 2, 15);
  EXPECT_EQ(none.sequential, 15);
  EXPECT_EQ(none.overlapped, 10);
  EXPECT_EQ(none.overlap, 0);
  EXPECT_EQ(iteration_model(3, 10, 2, 10).overlap, 1);
  EXPECT_NEAR(iteration_model(3, 10, 2, 12).overlap, 0.6, 1e-12);  // 3 of 5 s hidden
  EXPECT_LT(iteration_model(3, 10, 2, 16).overlap, 0);             // they disturb each other
  EXPECT_EQ(iteration_model(20, 10, 2, 20).overlap, 1);            // the data set the pace
  EXPECT_TRUE(std::isnan(iteration_model(0, 10, 0, 10).overlap));  // nothing to hide
  EXPECT_THROW(iteration_model(-1, 1, 1, 1), std::invalid_argument);
}

// --- load
// -----------------------------------------------------------------------------------------

TEST(Load, SharesByHand) {
  // Ten seconds of two processors: 12 s user, 1 s system, 1 s waiting, 6 s idle; 12.5 s are ours.
  const ProcessorTimes before{.user = 100, .system = 10, .iowait = 1, .idle = 1000};
  const ProcessorTimes after{.user = 112, .system = 11, .iowait = 2, .idle = 1006};
  const LoadShares shares = load_shares(before, after, 12.5);
  EXPECT_NEAR(shares.user, 0.6, 1e-12);
  EXPECT_NEAR(shares.system, 0.05, 1e-12);
  EXPECT_NEAR(shares.iowait, 0.05, 1e-12);
  EXPECT_NEAR(shares.own, 0.625, 1e-12);
  EXPECT_NEAR(shares.others, 0.025, 1e-12);
  EXPECT_FALSE(shares.busy);
  EXPECT_TRUE(load_shares(before, after, 11.5).busy);  // 1.5 of 20 s: 7.5 %
  EXPECT_EQ(load_shares(before, after, 14).others, 0);
  EXPECT_TRUE(std::isnan(load_shares(before, before, 0).others));
}

TEST(Load, StolenTimeIsOthers) {
  const ProcessorTimes before{};
  const ProcessorTimes after{.user = 1, .idle = 8, .stolen = 1};
  EXPECT_TRUE(load_shares(before, after, 1).busy);
}

}  // namespace
}  // namespace facebench
