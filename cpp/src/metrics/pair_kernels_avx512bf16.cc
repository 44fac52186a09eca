// Compiled with the instruction set of its name; empty where the processor family has none.
#ifdef __AVX512BF16__
#define FACEBENCH_LANES 16
#include "metrics/pair_filter.inl"

namespace facebench {
namespace {

// 28 registers of sums, two of columns, one of a row: 31 of 32.
constexpr int kRows = 14;

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

}  // namespace

extern const FilterKernels kFilterKernelsAvx512Bf16;
const FilterKernels kFilterKernelsAvx512Bf16{kRows, 2 * kLanes, 2, tile, above, tally};

}  // namespace facebench
#endif
