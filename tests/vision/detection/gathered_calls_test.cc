#include "facebench/detection/internal/gathered_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace facebench {
namespace {

TEST(GatheredCalls, EachThreadGetsItsOwnAnswer) {
  std::atomic<int> running{0}, asked{0};
  GatheredCalls<int, int> squares(
      [&](std::span<const int* const> questions) {
        EXPECT_LE(++running, 2) << "calls at a time";
        EXPECT_LE(questions.size(), 3U);
        asked += static_cast<int>(questions.size());
        std::vector<int> answers;
        for (const int* question : questions) answers.push_back(*question * *question);
        --running;
        return answers;
      },
      3, 2);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 100; ++i)
          wrong += squares.answer(100 * t + i) != (100 * t + i) * (100 * t + i);
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(asked, 800);
}

TEST(GatheredCalls, AnErrorReachesAllThatAsked) {
  GatheredCalls<int, int> calls(
      [](std::span<const int* const>) -> std::vector<int> {
        throw std::runtime_error("no device");
      },
      64, 1);
  std::atomic<int> told{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        EXPECT_THROW(calls.answer(t), std::runtime_error);
        ++told;
      });
  }
  EXPECT_EQ(told, 4);
}

}  // namespace
}  // namespace facebench
