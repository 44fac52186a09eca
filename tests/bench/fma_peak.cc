// The most single-precision arithmetic that one core does: chains of independent fused
// multiply-adds that touch no memory. Compiled by detect.py for the machine at hand; prints GFLOP/s
// of processor time.
#include <cstdio>
#include <ctime>

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
typedef float Lanes __attribute__((vector_size(4 * kLanes)));

int main() {
  constexpr int chains = 12;
  constexpr long steps = 20'000'000;
  double best = 0;
  float sink = 0;
  for (int trial = 0; trial < 7; ++trial) {
    Lanes sums[chains] = {};
    const Lanes factor = Lanes{} + 0.999f, term = Lanes{} + 1e-3f;
    const std::clock_t start = std::clock();
    for (long i = 0; i < steps; ++i)
#pragma GCC unroll 12
      for (Lanes& s : sums) s = s * factor + term;
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    for (const Lanes& s : sums) sink += s[0];
    const double rate = 2.0 * chains * kLanes * steps / taken / 1e9;
    if (rate > best) best = rate;
  }
  std::printf("%.1f\n", best);
  return sink == 1 ? 1 : 0;
}
