#include "facebench/nn/threads.h"

#include <ATen/Parallel.h>

#include <atomic>

#include "facebench/core/startable_threads.h"

namespace facebench {

TorchThreads::TorchThreads() : before_(at::get_num_threads()) {}

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
