#include "facebench/nn/threads.h"

#include <ATen/Parallel.h>

namespace facebench {
namespace {

class RestoreTorchThreads {
 public:
  RestoreTorchThreads() : before_(at::get_num_threads()) {}
  ~RestoreTorchThreads() { at::set_num_threads(before_); }
  RestoreTorchThreads(const RestoreTorchThreads&) = delete;
  RestoreTorchThreads& operator=(const RestoreTorchThreads&) = delete;

 private:
  int before_;
};

}  // namespace

void torch_parallel_for(std::int64_t n, const Job& job,
                        const std::function<void(std::int64_t, int)>& body, Stage* stage) {
  const RestoreTorchThreads restore;
  parallel_for(
      n, job,
      [&](std::int64_t i, int worker) {
        if (at::get_num_threads() != 1) at::set_num_threads(1);
        body(i, worker);
      },
      stage);
}

}  // namespace facebench
