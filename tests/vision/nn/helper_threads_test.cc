#include "facebench/nn/inference/helper_threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace facebench {
namespace {

// The sum of 1 to `count`, whose parts are taken by whoever comes.
long sum_by_helpers(int threads, int count) {
  std::atomic<int> next = 1;
  std::atomic<long> sum = 0;
  with_helpers(threads, [&](int) {
    for (int part = 0; (part = next.fetch_add(1)) <= count;) sum += part;
  });
  return sum;
}

TEST(HelperThreads, EveryPartIsDoneOnceAndTheCallerTakesPart) {
  for (const int threads : {1, 2, 5, 16})
    for (const int count : {0, 1, 7, 10000})
      EXPECT_EQ(sum_by_helpers(threads, count), static_cast<long>(count) * (count + 1) / 2);
  std::set<int> indices;
  std::mutex mutex;
  with_helpers(4, [&](int index) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(indices.insert(index).second);
    EXPECT_LT(index, 4);
  });
  EXPECT_TRUE(indices.contains(0));
}

TEST(HelperThreads, HelpersCome) {
  std::atomic<int> came = 0;
  with_helpers(3, [&](int) {
    ++came;
    while (came < 3) std::this_thread::yield();
  });
  EXPECT_EQ(came, 3);
}

TEST(HelperThreads, ManyCallsAtOnceAndWithinOneAnother) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int c = 0; c < 6; ++c)
    callers.emplace_back([&] {
      for (int k = 0; k < 300; ++k)
        if (sum_by_helpers(1 + k % 4, 50) != 1275) ++wrong;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  std::atomic<long> sum = 0;
  with_helpers(2, [&](int index) {
    if (index == 0) sum += sum_by_helpers(2, 10);
  });
  EXPECT_EQ(sum, 55);
}

TEST(HelperThreads, WhatIsThrownArrivesWhoeverThrowsIt) {
  EXPECT_THROW(with_helpers(3,
                            [](int index) {
                              if (index == 0) throw std::runtime_error("0");
                            }),
               std::runtime_error);
  std::atomic<int> came = 0;
  EXPECT_THROW(with_helpers(2,
                            [&](int index) {
                              ++came;
                              while (came < 2) std::this_thread::yield();
                              if (index == 1) throw std::invalid_argument("1");
                            }),
               std::invalid_argument);
  EXPECT_EQ(sum_by_helpers(3, 100), 5050);  // the next call knows nothing of it
}

TEST(HelperThreads, AForkedProcessHasItsOwn) {
  EXPECT_EQ(sum_by_helpers(3, 100), 5050);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends a child that hangs
    _exit(sum_by_helpers(3, 100) == 5050 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace facebench
