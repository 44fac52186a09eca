#include "facebench/nn/inference/helper_threads.h"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace facebench {
namespace {

// One call's work at a time; calls that come meanwhile compute alone.
class Helpers {
 public:
  void run(int threads, const std::function<void(int)>& act) {
    if (!offer(threads, act)) return act(0);
    std::exception_ptr failure;
    try {
      act(0);
    } catch (...) {
      failure = std::current_exception();
    }
    // Closed for those that did not come; those inside end what they took.
    std::unique_lock lock(mutex_);
    act_ = nullptr;
    lock.unlock();
    look_then_sleep([&] { return inside_.load(std::memory_order_acquire) == 0; },
                    [&] {
                      lock.lock();
                      ended_.wait(lock, [&] { return inside_.load() == 0; });
                      lock.unlock();
                    });
    lock.lock();
    if (!failure) failure = failure_;
    failure_ = nullptr;
    taken_ = false;
    lock.unlock();
    if (failure) std::rethrow_exception(failure);
  }

 private:
  // Whether the work is open for helpers; not while they have another call's.
  bool offer(int threads, const std::function<void(int)>& act) {
    const std::lock_guard lock(mutex_);
    if (taken_) return false;
    try {
      for (; started_ < threads - 1; ++started_) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {  // no more may be started: those that were do the work
    }
    taken_ = true;
    act_ = &act;
    next_ = 1;
    threads_ = threads;
    offers_.fetch_add(1, std::memory_order_release);
    if (asleep_ > 0) offered_.notify_all();
    return true;
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (std::uint64_t seen = 0;;) {
      while (act_ && next_ < threads_) {
        const std::function<void(int)>& act = *act_;
        const int index = next_++;
        inside_.fetch_add(1);
        lock.unlock();
        std::exception_ptr failure;
        try {
          act(index);
        } catch (...) {
          failure = std::current_exception();
        }
        lock.lock();
        if (failure && !failure_) failure_ = failure;
        if (next_ <= threads_) next_ = threads_;  // nothing is left for one that comes now
        if (inside_.fetch_sub(1) == 1) ended_.notify_one();
      }
      seen = offers_.load(std::memory_order_acquire);
      lock.unlock();
      look_then_sleep([&] { return offers_.load(std::memory_order_acquire) != seen; },
                      [&] {
                        lock.lock();
                        ++asleep_;
                        offered_.wait(lock, [&] { return offers_.load() != seen; });
                        --asleep_;
                        lock.unlock();
                      });
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable offered_, ended_;
  std::atomic<std::uint64_t> offers_ = 0;  // so far
  std::atomic<int> inside_ = 0;            // helpers that compute
  // Under the mutex.
  const std::function<void(int)>* act_ = nullptr;  // what is open for helpers
  bool taken_ = false;                             // until the call has returned
  int next_ = 0, threads_ = 0;
  int started_ = 0, asleep_ = 0;
  std::exception_ptr failure_;
};

// Never destroyed, since its threads use it until the process ends. A forked process has none of
// them, so it begins with others.
std::atomic<Helpers*> helpers = nullptr;
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { helpers = nullptr; });

}  // namespace

void with_helpers(int threads, const std::function<void(int)>& act) {
  if (threads <= 1) return act(0);
  Helpers* all = helpers.load();
  if (!all) {
    auto* fresh = new Helpers;
    if (helpers.compare_exchange_strong(all, fresh))
      all = fresh;
    else
      delete fresh;  // another thread was first; no thread of this one began
  }
  all->run(threads, act);
}

}  // namespace facebench
