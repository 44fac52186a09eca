// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "facebench/core/internal/vectors.h"
#include "facebench/metrics/internal/dot_kernels.h"

namespace facebench {
namespace {

// The eight partial sums of a dot product lie in kParts registers.
constexpr int kDoubles = FACEBENCH_LANES / 2;
constexpr int kParts = 8 / kDoubles;
constexpr int kBlock = FACEBENCH_LANES / 4;  // side of a tile of `block`
// Pairs whose sums run side by side, so that additions need not wait for each other.
constexpr int kTogether = kBlock;

typedef double Doubles __attribute__((vector_size(4 * FACEBENCH_LANES)));

// kDoubles floats in double. (The compiler makes several instructions of a vector conversion.)
Doubles widened(const float* p) {
#if defined(__AVX512F__)
  return _mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(p));
#elif defined(__AVX2__)
  return _mm256_cvtps_pd(_mm_loadu_ps(p));
#else
  Doubles result;
  for (int i = 0; i < kDoubles; ++i) result[i] = p[i];
  return result;
#endif
}

double total(const Doubles (&sums)[kParts]) {
  double s[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) s[i] = sums[i / kDoubles][i % kDoubles];
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// kPairs dot products, kShared: all with the same vector a[0]. Meanwhile the vectors of the next
// pairs are called into the cache.
template <int kPairs, bool kShared = false>
void dots(const float* const* a, const float* const* b, const float* const* next_a,
          const float* const* next_b, long dim, double* out) {
  Doubles sums[kPairs][kParts] = {};
  long k = 0;
  for (; k + 8 <= dim; k += 8) {
    if (k % 16 == 0) {
#pragma GCC unroll 4
      for (int p = 0; p < kPairs; ++p) {
        __builtin_prefetch(next_a[p] + k);
        __builtin_prefetch(next_b[p] + k);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) {
      const long at = k + i * kDoubles;
      const Doubles common = widened(a[0] + at);
#pragma GCC unroll 4
      for (int p = 0; p < kPairs; ++p)
        sums[p][i] += (kShared || p == 0 ? common : widened(a[p] + at)) * widened(b[p] + at);
    }
  }
  if (k < dim) {
    for (int p = 0; p < kPairs; ++p) {
      double x[8] = {}, y[8] = {};
      for (long i = k; i < dim; ++i) {
        x[i - k] = a[p][i];
        y[i - k] = b[p][i];
      }
      for (int i = 0; i < kParts; ++i)
        sums[p][i] += load<Doubles>(x + i * kDoubles) * load<Doubles>(y + i * kDoubles);
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPairs; ++p) out[p] = total(sums[p]);
}

void listed(const float* rows, const float* columns, long dim, const int* first, const int* second,
            long count, double* out) {
  const float *a[2][kTogether], *b[2][kTogether];
  const auto find = [&](long start, int side) {
    for (int p = 0; p < kTogether; ++p) {
      const long i = start + p < count ? start + p : count - 1;
      a[side][p] = rows + first[i] * dim;
      b[side][p] = columns + second[i] * dim;
    }
  };
  if (count == 0) return;
  find(0, 0);
  long i = 0;
  int side = 0;
  for (; i + kTogether <= count; i += kTogether, side ^= 1) {
    find(i + kTogether, side ^ 1);
    bool shared = true;
    for (int p = 1; p < kTogether; ++p) shared &= a[side][p] == a[side][0];
    (shared ? dots<kTogether, true> : dots<kTogether, false>)(a[side], b[side], a[side ^ 1],
                                                              b[side ^ 1], dim, out + i);
  }
  for (int p = 0; i < count; ++i, ++p)
    dots<1>(a[side] + p, b[side] + p, a[side] + p, b[side] + p, dim, out + i);
}

template <int kRows, int kColumns>
void dot_tile(const double* rows, const double* columns, long depth, long stride, double* out,
              long out_stride) {
  Doubles sums[kRows][kColumns][kParts] = {};
  for (long k = 0; k < depth; k += 8) {
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) {
      const long at = k + i * kDoubles;
      Doubles b[kColumns];
#pragma GCC unroll 4
      for (int c = 0; c < kColumns; ++c) b[c] = load<Doubles>(columns + c * stride + at);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const Doubles a = load<Doubles>(rows + r * stride + at);
#pragma GCC unroll 4
        for (int c = 0; c < kColumns; ++c) sums[r][c][i] += a * b[c];
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) out[r * out_stride + c] = total(sums[r][c]);
}

// Columns that stay in the first-level cache while all rows pass.
constexpr long kNear = 8;

void block(const double* rows, long row_count, const double* columns, long column_count, long depth,
           long stride, double* out, long out_stride) {
  for (long near = 0; near < column_count; near += kNear)
    for (long r = 0; r < row_count; r += kBlock)
      for (long c = near; c < near + kNear && c < column_count; c += kBlock) {
        const double *a = rows + r * stride, *b = columns + c * stride;
        double* target = out + r * out_stride + c;
        if (r + kBlock <= row_count && c + kBlock <= column_count) {
          dot_tile<kBlock, kBlock>(a, b, depth, stride, target, out_stride);
          continue;
        }
        for (long i = 0; i < kBlock && r + i < row_count; ++i)
          for (long j = 0; j < kBlock && c + j < column_count; ++j)
            dot_tile<1, 1>(a + i * stride, b + j * stride, depth, stride,
                           target + i * out_stride + j, out_stride);
      }
}

}  // namespace

extern const DotKernels FACEBENCH_FOR_ISA(kDotKernels);
const DotKernels FACEBENCH_FOR_ISA(kDotKernels){listed, block};

}  // namespace facebench
