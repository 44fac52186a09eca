#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace facebench {

// Where a long call reports how far it is. Called on the thread that made the long call only.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  // A stage begins: `total` things of `unit` ("images", "comparisons"); total 0 = not known.
  virtual void begin(std::string_view stage, std::int64_t total, std::string_view unit) = 0;
  // In total `done` things are finished since begin(). `note` is short free text ("loss 3.21").
  virtual void update(std::int64_t done, std::string_view note) = 0;
  // Must not throw: it is also called while an exception is handled.
  virtual void end() = 0;
};

// How a long call runs: how many threads, where progress goes, and how it is stopped. None of it
// changes a result. Pass by const reference; the default runs on all cores, silently.
struct Job {
  // Worker threads; 0 = one for each processor this process may use.
  int threads = 0;
  // Not owned; may be null.
  ProgressSink* progress = nullptr;
  // Called several times a second on the calling thread; throws (usually Cancelled) to stop.
  std::function<void()> poll;

  // The number of workers that `threads` stands for (>= 1). Throws std::invalid_argument for a
  // negative number.
  int workers() const;
  void check() const {
    if (poll) poll();
  }
};

// Begins a stage on construction and ends it on destruction, also after an exception.
class Stage {
 public:
  Stage(const Job& job, std::string_view name, std::int64_t total, std::string_view unit);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  // Reports that `done` are finished in total, and polls. Calling thread only.
  void update(std::int64_t done, std::string_view note = {});

 private:
  const Job& job_;
};

// Processors this process may use (its affinity mask and cgroup quota respected), at least 1.
int available_processors();

// Calls body(i, worker) for every i in [0, n), each exactly once, on job.workers() threads;
// worker in [0, workers). Work is handed out one i at a time in increasing order. The calling
// thread reports to `stage` (may be null), polls, and rethrows the exception of the smallest i that
// failed, or what poll threw; in both cases the workers have ended. Threads live for the call only,
// so it is safe after fork() and may be nested (a nested call inside a worker runs inline).
void parallel_for(std::int64_t n, const Job& job,
                  const std::function<void(std::int64_t, int)>& body, Stage* stage = nullptr);

}  // namespace facebench
