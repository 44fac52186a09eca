#include "facebench/nn/memory_reuse.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "facebench/nn/internal/memory_pool.h"

namespace facebench {
namespace {

at::Tensor floats(std::int64_t mebibytes) { return at::empty({mebibytes, 1 << 18}); }

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
