#include "facebench/timing/limits.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "facebench/core/internal/kernel_choice.h"
#include "facebench/timing/internal/limit_kernels.h"

namespace facebench {

const LimitKernels& limit_kernels() { return FACEBENCH_KERNELS_BF16(active_isa(), kLimitKernels); }

double multiply_add_limit(int threads) {
  if (threads < 1) throw std::invalid_argument("a limit is measured on at least 1 thread");
  constexpr long kRounds = 1 << 18;  // milliseconds
  const LimitKernels& kernels = limit_kernels();
  double best = 0;
  for (int run = 0; run < 7; ++run) {
    std::vector<float> results(static_cast<std::size_t>(threads));
    const auto begin = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> others;
      for (std::size_t t = 1; t < results.size(); ++t)
        others.emplace_back([&, t] { results[t] = kernels.fma(kRounds); });
      results[0] = kernels.fma(kRounds);
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    const double multiply_adds =
        static_cast<double>(threads * kRounds) * static_cast<double>(kernels.fma_flops) / 2;
    best = std::max(best, multiply_adds / time.count());
  }
  return best;
}

}  // namespace facebench
