// What this machine can do at most: arithmetic, reading from the levels of memory, copying. On one
// thread and on all.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "facebench/core/job.h"
#include "facebench/timing/internal/limit_kernels.h"

namespace facebench {
namespace {

constexpr long kRounds = 1 << 14;

void arithmetic(benchmark::State& state, float (*kernel)(long), long flops) {
  for (auto _ : state) benchmark::DoNotOptimize(kernel(kRounds));
  state.counters["flops"] = benchmark::Counter(
      static_cast<double>(state.iterations() * kRounds * flops), benchmark::Counter::kIsRate);
}

struct Free {
  void operator()(char* p) const { ::operator delete (p, std::align_val_t{64}); }
};
using Memory = std::unique_ptr<char, Free>;
Memory memory(long bytes) {
  Memory result(
      static_cast<char*>(::operator new (static_cast<std::size_t>(bytes), std::align_val_t{64})));
  std::memset(result.get(), 1, static_cast<std::size_t>(bytes));
  return result;
}

void read_memory(benchmark::State& state, long bytes) {
  const Memory from = memory(bytes);
  for (auto _ : state) benchmark::DoNotOptimize(limit_kernels().read(from.get(), bytes));
  state.SetBytesProcessed(state.iterations() * bytes);
}

void copy_memory(benchmark::State& state, long bytes) {
  const Memory from = memory(bytes), to = memory(bytes);
  for (auto _ : state) {
    std::memcpy(to.get(), from.get(), static_cast<std::size_t>(bytes));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

[[maybe_unused]] const bool registered = [] {
  const LimitKernels& k = limit_kernels();
  const auto add = [](const char* name, auto... arguments) {
    const int all = available_processors();
    for (const int threads : {1, all}) {
      benchmark::RegisterBenchmark(name, arguments...)
          ->Threads(threads)
          ->UseRealTime()
          ->MinTime(0.1);
      if (all == 1) break;
    }
  };
  add("limit/fma", arithmetic, k.fma, k.fma_flops);
  if (k.bf16) add("limit/bf16", arithmetic, k.bf16, k.bf16_flops);
  add("limit/read_256KB", read_memory, 256L << 10);
  add("limit/read_8MB", read_memory, 8L << 20);
  add("limit/read_256MB", read_memory, 256L << 20);
  add("limit/copy_128MB", copy_memory, 128L << 20);
  return true;
}();

}  // namespace
}  // namespace facebench
