// Compiled once for each instruction set (cpp/cmake/Kernels.cmake). With AVX-512 BF16 a group is
// two bfloat16, otherwise one float32.
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "facebench/core/internal/vectors.h"
#include "facebench/metrics/internal/filter_kernels.h"

namespace facebench {
namespace {

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
  int count_above = 0;
  for (int i = 0; i < count; i += kLanes)
    for (unsigned mask = mask_above(scores + i, bound); mask; mask &= mask - 1)
      where[count_above++] = static_cast<unsigned short>(i + __builtin_ctz(mask));
  return count_above;
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
      store<Ints>(bin + k, b >= bins ? bins - 1 : b);
    }
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k) ++counts[bin[k]];
  }
}

// Of a tile, which is two vectors of columns wide. With AVX-512: 28 registers of sums, two of
// columns, one of a row, 31 of 32.
constexpr int kRows = kLanes == 16 ? 14 : kLanes == 8 ? 6 : 4;

#ifdef __AVX512BF16__
constexpr int kGroup = 2;

void tile(const void* row_panel, const void* column_panel, long groups, float* scores) {
  const auto* a = static_cast<const int*>(row_panel);
  const auto* b = static_cast<const int*>(column_panel);
  __m512 sums[kRows][2] = {};
  for (long k = 0; k < groups; ++k, a += kRows, b += 2 * kLanes) {
    const auto b0 = (__m512bh)_mm512_loadu_si512(b);
    const auto b1 = (__m512bh)_mm512_loadu_si512(b + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const auto row = (__m512bh)_mm512_set1_epi32(a[r]);
      sums[r][0] = _mm512_dpbf16_ps(sums[r][0], row, b0);
      sums[r][1] = _mm512_dpbf16_ps(sums[r][1], row, b1);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    _mm512_storeu_ps(scores + 2 * kLanes * r, sums[r][0]);
    _mm512_storeu_ps(scores + 2 * kLanes * r + kLanes, sums[r][1]);
  }
}
#else
constexpr int kGroup = 1;

void tile(const void* row_panel, const void* column_panel, long groups, float* scores) {
  const auto* a = static_cast<const float*>(row_panel);
  const auto* b = static_cast<const float*>(column_panel);
  Floats sums[kRows][2] = {};
  for (long k = 0; k < groups; ++k, a += kRows, b += 2 * kLanes) {
    const Floats b0 = load(b), b1 = load(b + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      sums[r][0] += a[r] * b0;
      sums[r][1] += a[r] * b1;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    store(scores + 2 * kLanes * r, sums[r][0]);
    store(scores + 2 * kLanes * r + kLanes, sums[r][1]);
  }
}
#endif

}  // namespace

extern const FilterKernels FACEBENCH_FOR_ISA(kFilterKernels);
const FilterKernels FACEBENCH_FOR_ISA(kFilterKernels){kRows, 2 * kLanes, kGroup,
                                                      tile,  above,      tally};

}  // namespace facebench
