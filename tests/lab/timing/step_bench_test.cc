#include "facebench/timing/step_bench.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "io/helpers.h"

namespace facebench {
namespace {

TEST(StepBench, NeitherMultipliesTf32NorSearches) {
  at::Context& context = at::globalContext();
  context.setAllowTF32CuDNN(true);
  StepBench bench({.network = "small4", .mode = "inference", .batch = 1, .threads = 1},
                  {.height = 32, .width = 32});
  int steps = 0;
  Job job;
  job.poll = [&] {
    EXPECT_FALSE(context.allowTF32CuDNN());
    EXPECT_FALSE(context.benchmarkCuDNN());
    ++steps;
  };
  bench.run(2, job);
  EXPECT_EQ(steps, 2);
  EXPECT_TRUE(context.allowTF32CuDNN());
}

}  // namespace
}  // namespace facebench
