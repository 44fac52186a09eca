#include "facebench/nn/threads.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <atomic>

#include "facebench/core/error.h"
#include "facebench/nn/network.h"

namespace facebench {
namespace {

TEST(Threads, TorchRunsOnOneInsideAndAsBeforeOutside) {
  at::set_num_threads(2);
  std::atomic<int> most{0};
  torch_parallel_for(8, Job{.threads = 3}, [&](std::int64_t, int) {
    most = std::max(most.load(), at::get_num_threads());
  });
  EXPECT_EQ(most, 1);
  EXPECT_EQ(at::get_num_threads(), 2);
  EXPECT_THROW(torch_parallel_for(1, {}, [](std::int64_t, int) { throw Error("x"); }), Error);
  EXPECT_EQ(at::get_num_threads(), 2);
}

}  // namespace
}  // namespace facebench
