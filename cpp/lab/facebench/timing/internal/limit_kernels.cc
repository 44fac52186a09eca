// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

#include "facebench/timing/internal/limit_kernels.h"

namespace facebench {
namespace {

constexpr int kLanes = FACEBENCH_LANES;
typedef float Floats __attribute__((vector_size(4 * FACEBENCH_LANES), may_alias));
typedef int Ints __attribute__((vector_size(4 * FACEBENCH_LANES), may_alias));

// Enough sums that none waits for the one before; with two factors they fit in the registers.
constexpr int kSums = FACEBENCH_LANES == 16 ? 24 : 12;

float fma(long n) {
  Floats sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = Floats{} + 1e-3f * static_cast<float>(i);
  const Floats factor = Floats{} + 0.999f, term = Floats{} + 1e-3f;
  for (long k = 0; k < n; ++k) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * factor + term;
  }
  float total = 0;
  for (int i = 0; i < kSums; ++i)
    for (int l = 0; l < kLanes; ++l) total += sums[i][l];
  return total;
}

#ifdef __AVX512BF16__
float bf16(long n) {
  __m512 sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = _mm512_set1_ps(1e-3f * static_cast<float>(i));
  const auto factor = (__m512bh)_mm512_set1_epi32(0x3c003c00);  // twice 1/128
  for (long k = 0; k < n; ++k) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_dpbf16_ps(sums[i], factor, factor);
  }
  float total = 0;
  for (int i = 0; i < kSums; ++i)
    for (int l = 0; l < kLanes; ++l) total += sums[i][l];
  return total;
}
#else
constexpr float (*bf16)(long) = nullptr;
#endif

int read(const void* from, long bytes) {
  const auto* p = static_cast<const Ints*>(from);
  Ints sums[4] = {};
  for (const Ints* end = p + bytes / sizeof(Ints); p < end; p += 4)
    for (int i = 0; i < 4; ++i) sums[i] ^= p[i];
  const Ints all = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
  int total = 0;
  for (int l = 0; l < kLanes; ++l) total ^= all[l];
  return total;
}

}  // namespace

extern const LimitKernels FACEBENCH_FOR_ISA(kLimitKernels);
const LimitKernels FACEBENCH_FOR_ISA(kLimitKernels){fma, 2L * kSums* kLanes, bf16,
                                                    4L * kSums* kLanes, read};

}  // namespace facebench
