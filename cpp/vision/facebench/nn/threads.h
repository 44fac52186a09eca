#pragma once

#include <cstdint>
#include <functional>

#include "facebench/core/job.h"

namespace facebench {

// torch's number of threads (of one operation) while this lives; as before afterwards.
class TorchThreads {
 public:
  TorchThreads();                      // leaves it as it is, and undoes what others set meanwhile
  explicit TorchThreads(int threads);  // 1 where the system does not let so many be started
  ~TorchThreads();
  TorchThreads(const TorchThreads&) = delete;
  TorchThreads& operator=(const TorchThreads&) = delete;

 private:
  int before_;
};

// parallel_for (core/job.h) for bodies that call torch: inside, torch runs each operation on one
// thread, so that the workers do not fight over cores and results do not depend on their number.
//
// torch stores its number of threads for each OS thread, but a new thread starts with the value
// that was set last in the process. The workers set it to 1, so it is restored when this returns. A
// thread that is started elsewhere meanwhile starts with 1.
void torch_parallel_for(std::int64_t n, const Job& job,
                        const std::function<void(std::int64_t, int)>& body, Stage* stage = nullptr);

}  // namespace facebench
