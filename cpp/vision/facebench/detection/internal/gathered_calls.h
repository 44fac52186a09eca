#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace facebench {

// Makes one call of what several threads ask for: what comes while `calls` of them run waits for
// the next. For a device, which answers many at once nearly as fast as one.
template <class Question, class Answer>
class GatheredCalls {
 public:
  // One answer for each question; where it throws, all that asked get the exception.
  using Function = std::function<std::vector<Answer>(std::span<const Question* const>)>;

  // `most` questions in a call, `calls` calls at the same time.
  GatheredCalls(Function function, std::size_t most, int calls)
      : function_(std::move(function)), most_(most), calls_(calls) {}

  Answer answer(const Question& question) {
    Call call{&question, {}, {}, false};
    std::unique_lock lock(mutex_);
    waiting_.push_back(&call);
    while (!call.done) {
      if (running_ == calls_ || waiting_.empty())
        ended_.wait(lock);
      else
        run(lock);
    }
    if (call.error) std::rethrow_exception(call.error);
    return std::move(call.answer);
  }

 private:
  struct Call {
    const Question* question;
    Answer answer;
    std::exception_ptr error;
    bool done;
  };

  // The first that wait, with the lock open meanwhile.
  void run(std::unique_lock<std::mutex>& lock) {
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(most_, waiting_.size()));
    const std::vector<Call*> calls(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    ++running_;
    lock.unlock();
    try {
      std::vector<const Question*> questions;
      for (const Call* call : calls) questions.push_back(call->question);
      std::vector<Answer> answers = function_(questions);
      for (std::size_t i = 0; i < calls.size(); ++i) calls[i]->answer = std::move(answers.at(i));
    } catch (...) {
      for (Call* call : calls) call->error = std::current_exception();
    }
    lock.lock();
    --running_;
    for (Call* call : calls) call->done = true;
    ended_.notify_all();
  }

  const Function function_;
  const std::size_t most_;
  const int calls_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Call*> waiting_;
  int running_ = 0;
};

}  // namespace facebench
