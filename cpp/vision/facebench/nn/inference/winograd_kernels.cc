// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "facebench/nn/inference/conv_finish.h"
#include "facebench/nn/inference/pair_words.h"

namespace facebench {
namespace {

// Of the points p and -p of an axis with so many values: the products of (x - p^2), lowest power of
// x first, and the highest is one.
template <int kValues>
struct Points {
  static constexpr int kPairs = kValues / 2 - 1;
  float all[kPairs + 1] = {};      // over all pairs
  float but[kPairs][kPairs] = {};  // over all pairs but one
  float powers[kPairs][4] = {};    // of p
  constexpr Points() {
    const auto& points = kWinogradPoints[kPairs];
    const auto product = [&](int without, float* out) {
      double p[kPairs + 1] = {1};
      for (int i = 0, power = 0; i < kPairs; ++i) {
        if (i == without) continue;
        ++power;
        for (int k = power; k >= 0; --k)
          p[k] = (k > 0 ? p[k - 1] : 0) - points[i] * points[i] * (k < power ? p[k] : 0);
      }
      for (int k = 0; k < (without < 0 ? kPairs + 1 : kPairs); ++k)
        out[k] = static_cast<float>(p[k]);
    };
    product(-1, all);
    for (int i = 0; i < kPairs; ++i) {
      product(i, but[i]);
      double power = 1;
      for (int k = 0; k < 4; ++k, power *= points[i]) powers[i][k] = static_cast<float>(power);
    }
  }
};

// The values of an axis, in place: B^T d. Those of p and -p are the sum and the difference of what
// even and odd inputs give.
template <int kValues>
[[gnu::always_inline]] inline void spread(Floats (&d)[kValues]) {
  if constexpr (kValues > 1) {
    static constexpr Points<kValues> kPoints;
    constexpr int kPairs = kPoints.kPairs;
    Floats out[kValues];
    out[0] = d[kValues - 2];
    out[kValues - 1] = d[kValues - 1];
#pragma GCC unroll 4
    for (int k = 0; k < kPairs; ++k) {
      out[0] += kPoints.all[k] * d[2 * k];
      out[kValues - 1] += kPoints.all[k] * d[2 * k + 1];
    }
#pragma GCC unroll 4
    for (int i = 0; i < kPairs; ++i) {
      Floats even = d[kValues - 2], odd = d[kValues - 3];
#pragma GCC unroll 4
      for (int k = 0; k + 1 < kPairs; ++k) {
        even += kPoints.but[i][k] * d[2 * k + 2];
        odd += kPoints.but[i][k] * d[2 * k + 1];
      }
      out[1 + 2 * i] = even + kPoints.powers[i][1] * odd;
      out[2 + 2 * i] = even - kPoints.powers[i][1] * odd;
    }
#pragma GCC unroll 8
    for (int i = 0; i < kValues; ++i) d[i] = out[i];
  }
}

// The outputs of an axis: A^T m.
template <int kValues, int kOutputs>
[[gnu::always_inline]] inline void gather(const Floats (&m)[kValues], Floats (&y)[kOutputs]) {
  y[0] = m[0];
  if constexpr (kValues > 1) {
    static constexpr Points<kValues> kPoints;
#pragma GCC unroll 4
    for (int k = 1; k < kOutputs; ++k) y[k] = k + 1 < kOutputs ? Floats{} : m[kValues - 1];
#pragma GCC unroll 4
    for (int i = 0; i < kPoints.kPairs; ++i) {
      const Floats sum = m[1 + 2 * i] + m[2 + 2 * i], difference = m[1 + 2 * i] - m[2 + 2 * i];
#pragma GCC unroll 4
      for (int k = 0; k < kOutputs; ++k)
        y[k] += kPoints.powers[i][k] * (k % 2 == 0 ? sum : difference);
    }
  }
}

// Each tile's values, as words of `kPerWord` numbers.
template <int kForm, int kPerWord>
void winograd_inputs(const WinogradWork& w, long from, long to) {
  constexpr WinogradAxis kDown = kWinogradForm[kForm].down, kAcross = kWinogradForm[kForm].across;
  for (int b = 0; b < w.in_blocks; ++b)
    for (long t = from; t < to; ++t) {
      const long y = t / w.across * kDown.outputs, x = t % w.across * kAcross.outputs;
      const float* in = w.in.data + b * w.in.block + y * w.in.row + x * kLanes;
      Floats d[kDown.values][kAcross.values];
#pragma GCC unroll 8
      for (int i = 0; i < kDown.values; ++i) {
#pragma GCC unroll 8
        for (int j = 0; j < kAcross.values; ++j) d[i][j] = load(in + i * w.in.row + j * kLanes);
        spread(d[i]);
      }
      float* out = w.inputs + b * w.inputs_block + (t - from) * (kLanes / kPerWord);
#pragma GCC unroll 8
      for (int j = 0; j < kAcross.values; ++j) {
        Floats column[kDown.values];
#pragma GCC unroll 8
        for (int i = 0; i < kDown.values; ++i) column[i] = d[i][j];
        spread(column);
#pragma GCC unroll 8
        for (int i = 0; i < kDown.values; ++i) {
          float* part = out + (i * kAcross.values + j) * w.inputs_part;
          kPerWord == 1 ? store(part, column[i]) : store_pairs(part, column[i]);
        }
      }
    }
}

// The sums of one slab as pixels, the rows of a tile at a time, and what follows them.
template <int kForm>
void winograd_outputs(const WinogradWork& w, const ConvWork& conv, int blocks, long from, long to) {
  constexpr WinogradAxis kDown = kWinogradForm[kForm].down, kAcross = kWinogradForm[kForm].across;
  const long height = conv.pixels / conv.width;
  for (long first = from; first < to;) {
    const long y = first / w.across * kDown.outputs, x = first % w.across * kAcross.outputs;
    const long row_end = first - first % w.across + w.across;
    const long end = row_end < to ? row_end : to;
    const long most = kAcross.outputs * (end - first);
    const long pixels = x + most < conv.width ? most : conv.width - x;
    for (int b = 0; b < blocks; ++b) {
      const Floats bias = load(conv.bias + b * kLanes);
      for (long t = first; t < end; ++t) {
        const float* in = w.sums + b * w.sums_block + (t - from) * kLanes;
        Floats s[kDown.outputs][kAcross.values];
#pragma GCC unroll 8
        for (int j = 0; j < kAcross.values; ++j) {
          Floats column[kDown.values], made[kDown.outputs];
#pragma GCC unroll 8
          for (int i = 0; i < kDown.values; ++i)
            column[i] = load(in + (i * kAcross.values + j) * w.sums_part);
          gather(column, made);
#pragma GCC unroll 4
          for (int i = 0; i < kDown.outputs; ++i) s[i][j] = made[i];
        }
#pragma GCC unroll 4
        for (int i = 0; i < kDown.outputs; ++i) {
          Floats row[kAcross.outputs];
          gather(s[i], row);
          float* out =
              w.rows + (i * blocks + b) * most * kLanes + kAcross.outputs * (t - first) * kLanes;
#pragma GCC unroll 4
          for (int j = 0; j < kAcross.outputs; ++j) store(out + j * kLanes, row[j] + bias);
        }
      }
    }
    for (long i = 0; i < kDown.outputs && y + i < height; ++i)
      finish(conv, w.rows + i * blocks * most * kLanes, blocks, most, pixels, y + i, x);
    first = end;
  }
}

}  // namespace

extern const WinogradKernels FACEBENCH_FOR_ISA(kWinogradKernels);
const WinogradKernels FACEBENCH_FOR_ISA(kWinogradKernels) = {
    {{winograd_inputs<0, 1>, winograd_inputs<0, 2>, nullptr},
     {winograd_inputs<1, 1>},
     {winograd_inputs<2, 1>},
     {winograd_inputs<3, 1>},
     {winograd_inputs<4, 1>},
     {winograd_inputs<5, 1>},
     {winograd_inputs<6, 1>}},
    {winograd_outputs<0>, winograd_outputs<1>, winograd_outputs<2>, winograd_outputs<3>,
     winograd_outputs<4>, winograd_outputs<5>, winograd_outputs<6>}};

}  // namespace facebench
