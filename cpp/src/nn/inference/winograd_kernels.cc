// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "nn/inference/conv_finish.h"
#include "nn/inference/pair_words.h"

namespace facebench {
namespace {

// Four values in place: B^T d of F(2, 3).
[[gnu::always_inline]] inline void spread(Floats& a, Floats& b, Floats& c, Floats& d) {
  const Floats e = a - c, f = b + c, g = c - b, h = b - d;
  a = e;
  b = f;
  c = g;
  d = h;
}

// The 16 sums of differences of each tile's 4 x 4 pixels, as words of `kPerWord` numbers.
template <int kPerWord>
void winograd_inputs(const WinogradWork& w, long from, long to) {
  for (int b = 0; b < w.in_blocks; ++b)
    for (long t = from; t < to; ++t) {
      const long y = t / w.across * 2, x = t % w.across * 2;
      const float* in = w.in.data + b * w.in.block + y * w.in.row + x * kLanes;
      Floats d[4][4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) d[i][j] = load(in + i * w.in.row + j * kLanes);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) spread(d[i][0], d[i][1], d[i][2], d[i][3]);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) spread(d[0][j], d[1][j], d[2][j], d[3][j]);
      float* out = w.inputs + b * w.inputs_block + (t - from) * (kLanes / kPerWord);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          float* part = out + (i * 4 + j) * w.inputs_part;
          kPerWord == 1 ? store(part, d[i][j]) : store_pairs(part, d[i][j]);
        }
    }
}

// The sums of one slab as pixels: A^T m A, two rows at a time, and what follows them.
void winograd_outputs(const WinogradWork& w, const ConvWork& conv, int blocks, long from, long to) {
  const long height = conv.pixels / conv.width;
  for (long first = from; first < to;) {
    const long y = first / w.across * 2, x = first % w.across * 2;
    const long row_end = first - first % w.across + w.across;
    const long end = row_end < to ? row_end : to;
    const long most = 2 * (end - first);
    const long pixels = x + most < conv.width ? most : conv.width - x;
    for (int b = 0; b < blocks; ++b) {
      const Floats bias = load(conv.bias + b * kLanes);
      for (long t = first; t < end; ++t) {
        const float* in = w.sums + b * w.sums_block + (t - from) * kLanes;
        Floats m[4][4], s[2][4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
          for (int j = 0; j < 4; ++j) m[i][j] = load(in + (i * 4 + j) * w.sums_part);
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          s[0][j] = m[0][j] + m[1][j] + m[2][j];
          s[1][j] = m[1][j] - m[2][j] - m[3][j];
        }
#pragma GCC unroll 2
        for (int i = 0; i < 2; ++i) {
          float* out = w.rows + (i * blocks + b) * most * kLanes + 2 * (t - first) * kLanes;
          store(out, s[i][0] + s[i][1] + s[i][2] + bias);
          store(out + kLanes, s[i][1] - s[i][2] - s[i][3] + bias);
        }
      }
    }
    for (long i = 0; i < 2 && y + i < height; ++i)
      finish(conv, w.rows + i * blocks * most * kLanes, blocks, most, pixels, y + i, x);
    first = end;
  }
}

}  // namespace

extern const WinogradKernels FACEBENCH_FOR_ISA(kWinogradKernels);
const WinogradKernels FACEBENCH_FOR_ISA(kWinogradKernels) = {
    {winograd_inputs<1>, winograd_inputs<2>, nullptr}, winograd_outputs};

}  // namespace facebench
