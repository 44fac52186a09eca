#pragma once

#include <functional>
#include <thread>

namespace facebench {

// Lets helpers share in work that whoever comes takes parts of: act(0) on the calling thread, and
// act(1), act(2), ... below `threads` on helpers that are free and come while it runs. Returns when
// act(0) and every act that began have returned; throws what one of them threw.
//
// Helpers are threads of the process that sleep between calls. One that does not come, since other
// programs have the processors or another call has it, keeps nobody waiting: a team of OpenMP's
// begins and ends together, however much of the work the others have done.
void with_helpers(int threads, const std::function<void(int)>& act);

// Waits until `ready` says so: looks for some microseconds, as long as a thread that computes may
// need, and calls `sleep` then, which returns when it is woken or for no reason.
template <class Ready, class Sleep>
void look_then_sleep(const Ready& ready, const Sleep& sleep) {
  constexpr int kLooks = 1 << 10;
  for (int looked = 0; !ready(); ++looked) {
    if (looked >= kLooks)
      sleep();
    else
#if defined(__x86_64__)
      __builtin_ia32_pause();
#else
      std::this_thread::yield();
#endif
  }
}

}  // namespace facebench
