#include "facebench/timing/process_meter.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "io/helpers.h"

namespace facebench {
namespace {

TEST(Meter, SeesThisProcess) {
  ProcessMeter meter(0, 0.001);
  std::vector<char> memory(64 << 20, 1);
  double sum = 0;
  for (int i = 0; i < 5'000'000; ++i) sum += std::sqrt(static_cast<double>(i + memory[0]));
  EXPECT_GT(sum, 0);
  const ProcessUse use = meter.stop();
  EXPECT_GE(use.memory_peak, use.memory_before + (60 << 20));
  EXPECT_GE(use.memory_peak, use.memory_average);
  EXPECT_GE(use.samples, 1);
  EXPECT_GT(use.seconds, 0);
  EXPECT_EQ(meter.stop().samples, use.samples);
  EXPECT_FALSE(canonical_json(process_use_json(use)).empty());
}

TEST(Meter, RefusesWhatIsNoProcess) {
  EXPECT_THROW(ProcessMeter(std::numeric_limits<int>::max()), std::invalid_argument);
  EXPECT_THROW(ProcessMeter(-3), std::invalid_argument);
  EXPECT_THROW(ProcessMeter(0, 0), std::invalid_argument);
}

}  // namespace
}  // namespace facebench
