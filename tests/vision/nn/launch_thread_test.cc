#include "facebench/nn/launch_thread.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace facebench {
namespace {

TEST(LaunchThread, IsOneForAllAndNoneOfThem) {
  std::vector<std::thread::id> seen(8);
  std::vector<std::int64_t> sums(8);
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i)
    callers.emplace_back([&, i] {
      const at::Tensor made = on_launch_thread([&] {
        seen[static_cast<std::size_t>(i)] = std::this_thread::get_id();
        return at::ones({i + 1});
      });
      sums[static_cast<std::size_t>(i)] = made.numel();
    });
  std::set<std::thread::id> ids;
  for (auto& caller : callers) {
    ids.insert(caller.get_id());
    caller.join();
  }
  const std::set<std::thread::id> launching(seen.begin(), seen.end());
  ASSERT_EQ(launching.size(), 1U);
  EXPECT_FALSE(ids.contains(*launching.begin()));
  EXPECT_NE(std::this_thread::get_id(), *launching.begin());
  EXPECT_EQ(sums, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(LaunchThread, ThrowsWhatItsWorkThrowsAndGoesOn) {
  EXPECT_THROW(on_launch_thread([]() -> at::Tensor { throw std::domain_error("none"); }),
               std::domain_error);
  EXPECT_EQ(on_launch_thread([] { return at::ones({3}); }).numel(), 3);
}

}  // namespace
}  // namespace facebench
