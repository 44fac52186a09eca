#include "facebench/nn/threads.h"

#include <ATen/Parallel.h>
#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <mutex>

#include "facebench/core/startable_threads.h"

// Of the OpenMP that torch brings along; null in one older than OpenMP 5.
#pragma weak omp_pause_resource_all

namespace facebench {
namespace {

// A forked process has none of the threads that OpenMP keeps for the thread that forks, and GNU's
// waits for them for ever. So they end before the fork; both processes start others when they
// compute.
void end_openmp_threads() {
  if (omp_pause_resource_all) omp_pause_resource_all(omp_pause_hard);
}

std::atomic<bool> forked = false;
std::mutex renewing;
[[maybe_unused]] const int registered =
    pthread_atfork(end_openmp_threads, nullptr, [] { forked = true; });

// torch renews a pool of its own at the first call in a forked process, where a second call at the
// same time finds none.
void renew_pool() {
  if (!forked) return;
  const std::lock_guard lock(renewing);
  if (forked) at::set_num_threads(at::get_num_threads());
  forked = false;
}

}  // namespace

TorchThreads::TorchThreads() : before_(at::get_num_threads()) { renew_pool(); }

TorchThreads::TorchThreads(int threads) : TorchThreads() {
  // OpenMP ends the process where it cannot start one. Others start some meanwhile: a loader of
  // images, a display of progress.
  constexpr int kOthers = 3;
  static std::atomic<int> known = 0;  // tried once: a call that embeds one image takes 1 ms
  if (threads > 1 && known < threads + kOthers) known = startable_threads(threads + kOthers);
  const bool few = threads > 1 && known < threads + kOthers;
  at::set_num_threads(few ? 1 : threads);
}

TorchThreads::~TorchThreads() { at::set_num_threads(before_); }

void torch_parallel_for(std::int64_t n, const Job& job,
                        const std::function<void(std::int64_t, int)>& body, Stage* stage) {
  const TorchThreads restore;
  parallel_for(
      n, job,
      [&](std::int64_t i, int worker) {
        if (at::get_num_threads() != 1) at::set_num_threads(1);
        body(i, worker);
      },
      stage);
}

}  // namespace facebench
