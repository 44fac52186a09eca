#include "facebench/core/job.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "facebench/core/numbers.h"

namespace facebench {
namespace {

thread_local bool inside_worker = false;

// The quota of the cgroup (v2) in processors, rounded up; 0 = none.
int cgroup_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota, period;  // microseconds; the quota may be "max"
  if (!(file >> quota >> period)) return 0;
  const double processors = number_of(quota).value_or(0) / number_of(period).value_or(0);
  return processors > 0 && processors < 1e6 ? static_cast<int>(std::max(1.0, processors + 0.999))
                                            : 0;
}

}  // namespace

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int n = 0;
  if (sched_getaffinity(0, sizeof set, &set) == 0) n = CPU_COUNT(&set);
  if (n <= 0) n = static_cast<int>(std::thread::hardware_concurrency());
  if (const int quota = cgroup_quota(); quota > 0) n = std::min(n, quota);
  return std::max(n, 1);
}

int Job::workers() const {
  if (threads < 0)
    throw std::invalid_argument("threads: " + std::to_string(threads) +
                                " is not a number of threads");
  return threads > 0 ? threads : available_processors();
}

Stage::Stage(const Job& job, std::string_view name, std::int64_t total, std::string_view unit)
    : job_(job) {
  if (job_.progress) job_.progress->begin(name, total, unit);
}

Stage::~Stage() {
  if (job_.progress) job_.progress->end();
}

void Stage::update(std::int64_t done, std::string_view note) {
  if (job_.progress) job_.progress->update(done, note);
  job_.check();
}

void parallel_for(std::int64_t n, const Job& job,
                  const std::function<void(std::int64_t, int)>& body, Stage* stage) {
  if (n <= 0) return;
  if (inside_worker) {
    for (std::int64_t i = 0; i < n; ++i) body(i, 0);
    return;
  }
  const int workers = static_cast<int>(std::min<std::int64_t>(job.workers(), n));
  std::atomic<std::int64_t> next{0}, done{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable finished;
  int running = workers;
  std::exception_ptr failure;
  std::int64_t failed_at = n;

  auto work = [&](int worker) {
    inside_worker = true;
    while (!stop.load(std::memory_order_relaxed)) {
      const std::int64_t i = next.fetch_add(1);
      if (i >= n) break;
      try {
        body(i, worker);
        done.fetch_add(1, std::memory_order_relaxed);
      } catch (...) {
        // Every index below a failing one has been handed out already and runs to its end, so the
        // smallest failing index is the same whatever the number of threads.
        std::lock_guard lock(mutex);
        if (i < failed_at) {
          failed_at = i;
          failure = std::current_exception();
        }
        stop = true;
      }
    }
    std::lock_guard lock(mutex);
    if (--running == 0) finished.notify_all();
  };

  // The calling thread only waits, reports and polls: polling must never wait for a long body, and
  // must happen on the caller's own thread (Python's signal handlers run there).
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(workers));
  std::exception_ptr cancelled;
  try {
    for (int w = 0; w < workers; ++w) threads.emplace_back(work, w);
  } catch (const std::system_error&) {  // no more may be started: those that were do the work
    std::lock_guard lock(mutex);
    running -= workers - static_cast<int>(threads.size());
  }
  if (threads.empty()) {  // not one: the caller does it
    running = 1;
    work(0);
    inside_worker = false;
  }
  std::unique_lock lock(mutex);
  while (running > 0) {
    finished.wait_for(lock, std::chrono::milliseconds(50));
    if (cancelled || running == 0) continue;
    lock.unlock();
    try {
      if (stage)
        stage->update(done.load());
      else
        job.check();
    } catch (...) {
      cancelled = std::current_exception();
      stop = true;
    }
    lock.lock();
  }
  lock.unlock();
  for (std::thread& t : threads) t.join();
  if (cancelled) std::rethrow_exception(cancelled);
  if (failure) std::rethrow_exception(failure);
  if (stage) stage->update(n);
}

}  // namespace facebench
