#include "facebench/nn/launch_thread.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

namespace facebench {
namespace {

class LaunchThread {
 public:
  LaunchThread() {
    std::thread([this] { serve(); }).detach();
  }

  std::future<at::Tensor> add(std::function<at::Tensor()> work) {
    std::packaged_task<at::Tensor()> task(std::move(work));
    std::future<at::Tensor> result = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(task));
    }
    added_.notify_one();
    return result;
  }

 private:
  [[noreturn]] void serve() {
    while (true) {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return !waiting_.empty(); });
      std::packaged_task<at::Tensor()> task = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::packaged_task<at::Tensor()>> waiting_;
};

}  // namespace

at::Tensor on_launch_thread(std::function<at::Tensor()> work) {
  // Never destroyed: its thread waits until the process ends.
  static LaunchThread& thread = *new LaunchThread;
  return thread.add(std::move(work)).get();
}

}  // namespace facebench
