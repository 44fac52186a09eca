// What is done with the scores of a tile: the part that all filter kernels share. FACEBENCH_LANES
// is the number of floats in a vector register.
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "metrics/pair_kernels.h"

namespace facebench {
namespace {

constexpr int kLanes = FACEBENCH_LANES;
typedef float Floats __attribute__((vector_size(4 * FACEBENCH_LANES), aligned(4), may_alias));
typedef int Ints __attribute__((vector_size(4 * FACEBENCH_LANES), aligned(4), may_alias));

const Floats& load(const float* p) { return *reinterpret_cast<const Floats*>(p); }

// Bit l is set where value l is at or above the bound.
unsigned mask_above(const float* p, float bound) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(p), _mm512_set1_ps(bound), _CMP_GE_OQ);
#elif defined(__AVX2__)
  return static_cast<unsigned>(
      _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(p), _mm256_set1_ps(bound), _CMP_GE_OQ)));
#elif defined(__SSE2__)
  return static_cast<unsigned>(_mm_movemask_ps(_mm_cmpge_ps(_mm_loadu_ps(p), _mm_set1_ps(bound))));
#else
  unsigned mask = 0;
  for (int l = 0; l < kLanes; ++l) mask |= static_cast<unsigned>(p[l] >= bound) << l;
  return mask;
#endif
}

int above(const float* scores, int count, float bound, unsigned short* where) {
  int found = 0;
  for (int i = 0; i < count; i += kLanes)
    for (unsigned mask = mask_above(scores + i, bound); mask; mask &= mask - 1)
      where[found++] = static_cast<unsigned short>(i + __builtin_ctz(mask));
  return found;
}

void tally(const float* scores, int count, float scale, float offset, int bins, unsigned* counts) {
  // Through memory: taking the lanes out of a register one by one is slower.
  constexpr int kChunk = 64;
  int bin[kChunk];
  for (int i = 0; i < count; i += kChunk) {
    const int n = count - i < kChunk ? count - i : kChunk;
    for (int k = 0; k < n; k += kLanes) {
      Ints b = __builtin_convertvector(load(scores + i + k) * scale + offset, Ints);
      b = b < 0 ? 0 : b;
      *reinterpret_cast<Ints*>(bin + k) = b >= bins ? bins - 1 : b;
    }
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k) ++counts[bin[k]];
  }
}

}  // namespace
}  // namespace facebench
