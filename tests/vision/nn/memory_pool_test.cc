#include "facebench/nn/internal/memory_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace facebench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(MemoryPool, GivesABlockAgainToWhoeverFitsIt) {
  MemoryPool pool;
  void* first = pool.take(10 * kMiB);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
  void* second = pool.take(10 * kMiB);
  EXPECT_NE(first, second);
  EXPECT_TRUE(pool.give_back(first));
  EXPECT_FALSE(pool.give_back(first)) << "it is not in use";
  EXPECT_NE(pool.take(4 * kMiB), first) << "more than a quarter would lie idle";
  EXPECT_EQ(pool.take(9 * kMiB), first);
}

TEST(MemoryPool, HoldsAtMostTwiceWhatWasInUse) {
  MemoryPool pool;
  std::mt19937 random(1);
  std::vector<std::pair<void*, std::size_t>> used;
  std::size_t in_use = 0, most = 0;
  for (int i = 0; i < 2000; ++i) {
    if (used.empty() || random() % 2 == 0) {
      const std::size_t bytes = kMiB + random() % (12 * kMiB);
      void* memory = pool.take(bytes);
      ASSERT_NE(memory, nullptr);
      std::memset(memory, i, 64);
      used.emplace_back(memory, bytes);
      in_use += bytes;
    } else {
      std::swap(used[random() % used.size()], used.back());
      in_use -= used.back().second;
      ASSERT_TRUE(pool.give_back(used.back().first));
      used.pop_back();
    }
    most = std::max(most, in_use);
    std::set<void*> distinct;
    for (const auto& [memory, bytes] : used) distinct.insert(memory);
    ASSERT_EQ(distinct.size(), used.size()) << "no block has two users";
    // A block is up to a quarter larger than what was asked for.
    ASSERT_LE(pool.held(), most * 10 / 4 + kMiB);
  }
  for (const auto& [memory, bytes] : used) pool.give_back(memory);
  pool.keep(false);
  EXPECT_EQ(pool.held(), 0U);
}

TEST(MemoryPool, LetsGoOfWhatLayUnusedLongest) {
  MemoryPool pool;
  void* large = pool.take(40 * kMiB);
  pool.give_back(large);
  void* small = pool.take(8 * kMiB);
  EXPECT_EQ(pool.held(), 48 * kMiB);
  void* other = pool.take(28 * kMiB);
  pool.give_back(small);
  EXPECT_EQ(pool.held(), 76 * kMiB);
  void* more = pool.take(12 * kMiB);  // 88 MiB would be more than twice 40
  EXPECT_EQ(pool.held(), 48 * kMiB);
  EXPECT_EQ(pool.take(8 * kMiB), small);
  for (void* memory : {small, other, more}) pool.give_back(memory);
}

// What a training step of LeNet asks for, in MiB; negative: gives back the oldest of that size.
TEST(MemoryPool, AStepTakesTheMemoryOfTheOneBefore) {
  constexpr std::array kStep{48,  48, -48, 12,  24, 24,  24,  -24, 6,   12,  6,   -6,
                             2,   2,  -2,  6,   14, -2,  -6,  24,  -6,  -12, 24,  -24,
                             -24, 12, -24, -12, 48, -12, -24, 48,  -48, -48, -48, -14};
  MemoryPool pool;
  std::multimap<int, void*> used;
  std::set<void*> before;
  for (int step = 0; step < 4; ++step) {
    std::set<void*> taken;
    for (const int mebibytes : kStep)
      if (mebibytes > 0) {
        used.emplace(mebibytes, pool.take(static_cast<std::size_t>(mebibytes) * kMiB));
        taken.insert(std::prev(used.upper_bound(mebibytes))->second);
      } else if (const auto oldest = used.find(-mebibytes); oldest != used.end()) {
        pool.give_back(oldest->second);
        used.erase(oldest);
      }
    if (step > 1) EXPECT_EQ(taken, before) << "step " << step;
    before = taken;
  }
  for (const auto& [mebibytes, memory] : used) pool.give_back(memory);
}

}  // namespace
}  // namespace facebench
