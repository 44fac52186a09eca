#include "facebench/nn/memory_reuse.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "facebench/nn/internal/aten.h"
#include "facebench/nn/internal/memory_pool.h"

namespace facebench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

at::Tensor floats(std::int64_t mebibytes) { return at::empty({mebibytes, 1 << 18}); }

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

TEST(MemoryReuse, LargeTensorsTakeTheSameMemoryWhileItLives) {
  void* address = nullptr;
  {
    const MemoryReuse reuse;
    address = floats(40).data_ptr();
    EXPECT_EQ(floats(40).data_ptr(), address);
    auto inner = std::make_unique<MemoryReuse>();
    EXPECT_EQ(floats(40).data_ptr(), address);
    inner.reset();
    EXPECT_EQ(floats(40).data_ptr(), address) << "the outer one still lives";
    const at::Tensor held = floats(40);
    EXPECT_NE(floats(40).data_ptr(), held.data_ptr());
  }
}

TEST(MemoryReuse, TensorsOutliveItAndMayBeOlder) {
  at::Tensor older = at::full({1 << 20}, 1.0F);
  at::Tensor newer;
  {
    const MemoryReuse reuse;
    newer = at::full({1 << 20}, 2.0F);
    older = older + newer;  // the old memory goes back to the system
  }
  EXPECT_EQ((older + newer).sum().item<float>(), 5.0F * (1 << 20));
  newer.reset();
  older.resize_({1 << 21}).fill_(1);
  EXPECT_EQ(older.sum().item<float>(), 1 << 21);
}

TEST(MemoryReuse, ThreadsTakeAndGiveBackAtOnce) {
  const MemoryReuse reuse;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &wrong] {
      for (int i = 0; i < 50; ++i) {
        const at::Tensor own = floats(1 + (t + i) % 3).fill_(t);
        const MemoryReuse inner;
        const at::Tensor copy = own.clone();
        if (!copy.eq(t).all().item<bool>()) ++wrong[static_cast<std::size_t>(t)];
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(MemoryReuse, WhatCannotBeHadIsTorchsError) {
  const MemoryReuse reuse;
  EXPECT_THROW(at::empty({std::int64_t{1} << 60}), c10::Error);
}

}  // namespace
}  // namespace facebench
