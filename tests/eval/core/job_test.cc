#include "facebench/core/job.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "facebench/core/error.h"

namespace facebench {
namespace {

Job with_threads(int threads) {
  Job job;
  job.threads = threads;
  return job;
}

struct Recorder : ProgressSink {
  void begin(std::string_view stage, std::int64_t total, std::string_view unit) override {
    log.push_back("begin " + std::string(stage) + " " + std::to_string(total) + " " +
                  std::string(unit));
    caller = std::this_thread::get_id();
  }
  void update(std::int64_t done, std::string_view) override {
    last = done;
    same_thread = same_thread && caller == std::this_thread::get_id();
  }
  void end() override { log.push_back("end"); }
  std::vector<std::string> log;
  std::int64_t last = -1;
  std::thread::id caller;
  bool same_thread = true;
};

}  // namespace

TEST(ParallelFor, EveryIndexOnce) {
  for (int threads : {1, 2, 7}) {
    for (std::int64_t n : {0, 1, 5, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
      std::atomic<bool> workers_in_range{true};
      parallel_for(n, with_threads(threads), [&](std::int64_t i, int worker) {
        ++seen[static_cast<std::size_t>(i)];
        if (worker < 0 || worker >= threads) workers_in_range = false;
      });
      for (const auto& count : seen) EXPECT_EQ(count, 1);
      EXPECT_TRUE(workers_in_range);
    }
  }
}

TEST(ParallelFor, AWorkerIsOneThreadAtATime) {
  std::vector<std::atomic<int>> busy(4);
  std::atomic<bool> overlap{false};
  parallel_for(2000, with_threads(4), [&](std::int64_t, int worker) {
    if (busy[worker].fetch_add(1) != 0) overlap = true;
    busy[worker].fetch_sub(1);
  });
  EXPECT_FALSE(overlap);
}

TEST(ParallelFor, TheSmallestFailingIndexIsReported) {
  for (int threads : {1, 2, 8}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      try {
        parallel_for(200, with_threads(threads), [](std::int64_t i, int) {
          if (i >= 20 && i % 3 == 2) throw Error("index " + std::to_string(i));
        });
        FAIL() << "nothing was thrown";
      } catch (const Error& e) {
        EXPECT_STREQ(e.what(), "index 20");
      }
    }
  }
}

TEST(ParallelFor, PollOnTheCallingThreadStops) {
  Job job = with_threads(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> other_thread{false}, stopped{false};
  std::atomic<int> done{0};
  job.poll = [&] {
    if (std::this_thread::get_id() != caller) other_thread = true;
    stopped = true;
    throw Cancelled();
  };
  // Bodies that wait for the poll: without it this would never end.
  EXPECT_THROW(parallel_for(1000000, job,
                            [&](std::int64_t, int) {
                              while (!stopped) std::this_thread::yield();
                              ++done;
                            }),
               Cancelled);
  EXPECT_FALSE(other_thread);
  EXPECT_LT(done, 1000000);
}

TEST(ParallelFor, NestedRunsInline) {
  std::vector<std::atomic<int>> seen(60);
  std::atomic<bool> moved{false};
  parallel_for(6, with_threads(3), [&](std::int64_t i, int) {
    const auto outer = std::this_thread::get_id();
    parallel_for(10, with_threads(3), [&](std::int64_t k, int worker) {
      if (std::this_thread::get_id() != outer || worker != 0) moved = true;
      ++seen[static_cast<std::size_t>(i * 10 + k)];
    });
  });
  for (const auto& count : seen) EXPECT_EQ(count, 1);
  EXPECT_FALSE(moved);
}

TEST(ParallelFor, ReportsProgress) {
  Recorder recorder;
  Job job = with_threads(2);
  job.progress = &recorder;
  {
    Stage stage(job, "embed", 30, "images");
    parallel_for(
        30, job, [](std::int64_t, int) {}, &stage);
  }
  EXPECT_EQ(recorder.log, (std::vector<std::string>{"begin embed 30 images", "end"}));
  EXPECT_EQ(recorder.last, 30);
  EXPECT_TRUE(recorder.same_thread);
  EXPECT_THROW(
      {
        Stage stage(job, "again", 0, "x");
        throw Error("x");
      },
      Error);
  EXPECT_EQ(recorder.log.back(), "end");
}

TEST(Job, Workers) {
  EXPECT_GE(available_processors(), 1);
  EXPECT_EQ(with_threads(0).workers(), available_processors());
  EXPECT_EQ(with_threads(3).workers(), 3);
  EXPECT_THROW(with_threads(-1).workers(), std::invalid_argument);
}

}  // namespace facebench
