// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "facebench/backends/internal/matrix_kernels.h"

#include "facebench/core/internal/vectors.h"

namespace facebench {
namespace {

using Doubles [[gnu::vector_size(4 * FACEBENCH_LANES)]] = double;

constexpr int kWidth = FACEBENCH_LANES / 2;
// A tile of `out` that is kept in registers.
constexpr int kTileRows = FACEBENCH_LANES == 16 ? 8 : 4, kVectors = 2;
constexpr int kTileColumns = kVectors * kWidth;
// Terms of a chain; the same for all instruction sets, since it decides the order of the sums.
constexpr long kDepth = 128;
constexpr long kRows = 64, kColumns = 128;  // that are packed at a time

constexpr long least(long a, long b) { return a < b ? a : b; }

// Where number (i, j) of a matrix, or of its transpose, lies.
struct Strided {
  const double* values;
  long row, column;
  double at(long i, long j) const { return values[i * row + j * column]; }
  Strided from(long i, long j) const { return {values + i * row + j * column, row, column}; }
};

// `count` rows and `depth` terms in bands of kBand rows, in each the terms one behind the other;
// zeros fill the last band.
template <int kBand>
void pack(const Strided& m, long count, long depth, double* out) {
  for (long begin = 0; begin < count; begin += kBand)
    for (long k = 0; k < depth; ++k)
      for (long i = begin; i < begin + kBand; ++i) *out++ = i < count ? m.at(i, k) : 0;
}

// A band of a times a band of b, the first `rows` and `columns` of it to `out`.
void tile(const double* a, const double* b, long depth, bool add, long rows, long columns,
          double* out, long stride) {
  Doubles sums[kTileRows][kVectors] = {};
  for (long k = 0; k < depth; ++k, a += kTileRows, b += kTileColumns) {
    Doubles right[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) right[v] = load<Doubles>(b + v * kWidth);
#pragma GCC unroll 8
    for (int i = 0; i < kTileRows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[i][v] += a[i] * right[v];
  }
  double one[kTileColumns];
#pragma GCC unroll 8
  for (int i = 0; i < kTileRows; ++i) {
    if (i >= rows) break;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) store(one + v * kWidth, sums[i][v]);
    double* to = out + i * stride;
    for (long j = 0; j < columns; ++j) to[j] = add ? to[j] + one[j] : one[j];
  }
}

// out (m, n) = or += a (m, k) b (k, n), whose transpose is given; `lower`: tiles that lie wholly
// above the diagonal are left out.
void product(const Strided& a, const Strided& columns, long m, long n, long k, bool add, bool lower,
             double* out) {
  alignas(64) double left[kRows * kDepth], right[kColumns * kDepth];
  for (long at = 0; at < k; at += kDepth) {
    const long depth = least(kDepth, k - at);
    for (long c = 0; c < n; c += kColumns) {
      const long wide = least(kColumns, n - c);
      pack<kTileColumns>(columns.from(c, at), wide, depth, right);
      for (long r = lower ? c / kRows * kRows : 0; r < m; r += kRows) {
        const long high = least(kRows, m - r);
        pack<kTileRows>(a.from(r, at), high, depth, left);
        for (long j = 0; j < wide; j += kTileColumns)
          for (long i = 0; i < high; i += kTileRows)
            if (!lower || r + i + kTileRows > c + j)
              tile(left + i * depth, right + j * depth, depth, add || at > 0,
                   least(kTileRows, high - i), least(kTileColumns, wide - j),
                   out + (r + i) * n + c + j, n);
      }
    }
  }
}

void add_gram(const double* rows, long count, long columns, double* out) {
  const Strided turned{rows, 1, columns};
  product(turned, turned, columns, columns, count, true, true, out);
}

void multiply(const double* a, const double* b, long m, long n, long k, bool transposed,
              double* out) {
  product({a, k, 1}, transposed ? Strided{b, k, 1} : Strided{b, 1, n}, m, n, k, false, false, out);
  if (k == 0)
    for (long i = 0; i < m * n; ++i) out[i] = 0;
}

}  // namespace

extern const MatrixKernels FACEBENCH_FOR_ISA(kMatrixKernels) = {add_gram, multiply};

}  // namespace facebench
