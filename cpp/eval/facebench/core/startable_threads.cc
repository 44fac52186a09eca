#include "facebench/core/startable_threads.h"

#include <cstddef>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

namespace facebench {

int startable_threads(int wanted) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(wanted));
  std::latch end(1);
  try {
    while (static_cast<int>(threads.size()) < wanted) threads.emplace_back([&end] { end.wait(); });
  } catch (const std::system_error&) {  // no more
  }
  end.count_down();
  for (std::thread& thread : threads) thread.join();
  return static_cast<int>(threads.size());
}

}  // namespace facebench
