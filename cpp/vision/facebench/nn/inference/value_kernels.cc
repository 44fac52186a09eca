// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "facebench/nn/inference/block_vectors.h"

namespace facebench {
namespace {

constexpr int kMostPixels = 8;

template <int kPixels, int kStep>
void depthwise_tile(const DepthwiseWork& w, const float* in, const float* weights, Floats bias,
                    Floats slope, float* out) {
  Floats sums[kPixels];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) sums[p] = bias;
  for (int tap = 0; tap < w.window.count; ++tap, weights += kLanes) {
    const float* from = in + w.window.taps[tap];
    const Floats of = load(weights);
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) sums[p] += of * load(from + p * kStep * kLanes);
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p)
    store(out + p * kLanes, activate(sums[p], w.activation.kind, slope));
}

using DepthwiseTile = void (*)(const DepthwiseWork&, const float*, const float*, Floats, Floats,
                               float*);

template <int kStep>
struct DepthwiseTiles {
  DepthwiseTile of[kMostPixels + 1] = {};
  constexpr DepthwiseTiles() { add<kMostPixels>(); }
  template <int kPixels>
  constexpr void add() {
    of[kPixels] = depthwise_tile<kPixels, kStep>;
    if constexpr (kPixels > 1) add<kPixels - 1>();
  }
};

template <int kStep>
void depthwise_blocks(const DepthwiseWork& w, long from, long to, long row_from, long row_to) {
  static constexpr DepthwiseTiles<kStep> kTiles;
  const long tiles = (w.width + kMostPixels - 1) / kMostPixels;
  for (long b = from; b < to; ++b) {
    const Floats bias = load(w.bias + b * kLanes), slope = slope_of(w.activation, b * kLanes);
    for (long y = row_from; y < row_to; ++y) {
      const float* in = w.in.data + b * w.in.block + y * w.window.step_down * w.in.row;
      float* out = w.out.data + b * w.out.block + y * w.out.row;
      for (long t = 0, x = 0; t < tiles; ++t) {
        const long end = w.width * (t + 1) / tiles;
        kTiles.of[end - x](w, in + x * kStep * kLanes, w.weights + b * w.window.count * kLanes,
                           bias, slope, out + x * kLanes);
        x = end;
      }
    }
  }
}

void depthwise(const DepthwiseWork& w, long from, long to, long row_from, long row_to) {
  if (w.window.step_right == 1)
    depthwise_blocks<1>(w, from, to, row_from, row_to);
  else
    depthwise_blocks<2>(w, from, to, row_from, row_to);
}

void pool(const PoolWork& w, long from, long to) {
  for (long b = from; b < to; ++b)
    for (long y = 0; y < w.height; ++y)
      for (long x = 0; x < w.width; ++x) {
        const float* in = w.in.data + b * w.in.block;
        Floats value = w.row_divisor
                           ? Floats{}
                           : load(in + w.top[y] * w.in.row + static_cast<long>(w.left[x]) * kLanes);
        for (long v = w.top[y]; v < w.bottom[y]; ++v)
          for (long u = w.left[x]; u < w.right[x]; ++u) {
            const Floats next = load(in + v * w.in.row + u * kLanes);
            value = w.row_divisor ? value + next : larger(value, next);
          }
        if (w.row_divisor) value /= w.row_divisor[y] * w.column_divisor[x];
        store(w.out.data + b * w.out.block + y * w.out.row + x * kLanes, value);
      }
}

void pointwise(const PointwiseWork& w, long from, long to) {
  for (long b = from; b < to; ++b) {
    const long c = b * kLanes;
    const Floats scale = w.scale ? load(w.scale + c) : Floats{} + 1;
    const Floats shift = w.shift ? load(w.shift + c) : Floats{};
    const Floats slope = slope_of(w.activation, c);
    for (long y = 0; y < w.height; ++y) {
      const float* in = w.in.data + b * w.in.block + y * w.in.row;
      const float* residual =
          w.residual.data ? w.residual.data + b * w.residual.block + y * w.residual.row : nullptr;
      float* out = w.out.data + b * w.out.block + y * w.out.row;
      for (long i = 0; i < w.width * kLanes; i += kLanes) {
        Floats v = load(in + i);
        if (w.scale) v = v * scale + shift;
        if (residual) v += load(residual + i);
        store(out + i, activate(v, w.activation.kind, slope));
      }
    }
  }
}

void larger_of_two(const PointwiseWork& w, long from, long to) {
  for (long b = from; b < to; ++b)
    for (long y = 0; y < w.height; ++y) {
      const float* in = w.in.data + b * w.in.block + y * w.in.row;
      const float* other = w.residual.data + b * w.residual.block + y * w.residual.row;
      float* out = w.out.data + b * w.out.block + y * w.out.row;
      for (long i = 0; i < w.width * kLanes; i += kLanes)
        store(out + i, larger(load(in + i), load(other + i)));
    }
}

void multiply(const PointwiseWork& w, long from, long to) {
  const long down = w.residual_is_a_pixel ? 0 : w.residual.row;
  const long right = w.residual_is_a_pixel ? 0 : kLanes;
  for (long b = from; b < to; ++b) {
    const Floats slope = slope_of(w.activation, b * kLanes);
    for (long y = 0; y < w.height; ++y) {
      const float* in = w.in.data + b * w.in.block + y * w.in.row;
      const float* factor = w.residual.data + b * w.residual.block + y * down;
      float* out = w.out.data + b * w.out.block + y * w.out.row;
      for (long x = 0; x < w.width; ++x)
        store(out + x * kLanes,
              activate(load(in + x * kLanes) * load(factor + x * right), w.activation.kind, slope));
    }
  }
}

// 2^n exp(r) with |r| <= log(2) / 2, where Taylor's series is within 2e-9 after seven terms.
// Numbers beyond those whose result is a normal float are taken as the last that is.
Floats exponential(Floats x) {
  x = smaller(larger(x, hidden(-87)), hidden(88));
  constexpr float kRound = 12582912;  // 1.5 2^23: a sum with it has no fraction
  const Floats rounded = x * 1.44269504F + kRound;
  const Floats n = rounded - kRound;
  const Floats r = x - n * 0.693359375F + n * 2.12194440e-4F;  // log(2) in two parts
  constexpr float kTerms[] = {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F};
  Floats sum = Floats{} + 1.0F / 5040;
  for (const float term : kTerms) sum = sum * r + term;
  const Bits power = (Bits(rounded) << 23) + (127U << 23);
  return sum * Floats(power);
}

void sigmoid(const PointwiseWork& w, long from, long to) {
  for (long b = from; b < to; ++b)
    for (long y = 0; y < w.height; ++y) {
      const float* in = w.in.data + b * w.in.block + y * w.in.row;
      float* out = w.out.data + b * w.out.block + y * w.out.row;
      for (long i = 0; i < w.width * kLanes; i += kLanes)
        store(out + i, 1 / (1 + exponential(-load(in + i))));
    }
}

void shift(const ShiftWork& w, long from, long to) {
  Ints lane;
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  const Ints before = lane < w.shift;
  for (long b = from; b < to; ++b)
    for (long y = 0; y < w.height; ++y) {
      float* out = w.out.data + b * w.out.block + y * w.out.row;
      const float* in = w.in.data + b * w.in.block + y * w.in.row;
      const float* first = b == 0 ? out : in - w.in.block + kLanes - w.shift;
      for (long i = 0; i < w.width * kLanes; i += kLanes) {
        const Floats rest = b < w.in_blocks ? load(in + i - w.shift) : Floats{};
        store(out + i, before ? load(first + i) : rest);
      }
    }
}

}  // namespace

#if defined(__AVX512BF16__)
#define FACEBENCH_CONV_KERNEL kConvKernelAvx512  // products of floats gain nothing from the rest
#else
#define FACEBENCH_CONV_KERNEL FACEBENCH_FOR_ISA(kConvKernel)
#endif
extern const ConvKernel FACEBENCH_CONV_KERNEL;                     // conv_kernels.cc
extern const ConvKernel FACEBENCH_FOR_ISA(kPairKernel);            // pair_kernels.cc
extern const ConvKernel FACEBENCH_FOR_ISA(kByteKernel);            // byte_kernels.cc
extern const WinogradKernels FACEBENCH_FOR_ISA(kWinogradKernels);  // winograd_kernels.cc

extern const InferenceKernels FACEBENCH_FOR_ISA(kInferenceKernels);
const InferenceKernels FACEBENCH_FOR_ISA(kInferenceKernels) = {
    kLanes,
    {&FACEBENCH_CONV_KERNEL, &FACEBENCH_FOR_ISA(kPairKernel), &FACEBENCH_FOR_ISA(kByteKernel)},
    &FACEBENCH_FOR_ISA(kWinogradKernels),
    depthwise,
    pool,
    pointwise,
    larger_of_two,
    multiply,
    sigmoid,
    shift};

}  // namespace facebench
