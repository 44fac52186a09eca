// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "facebench/detection/internal/mtcnn_kernels.h"
#include "facebench/core/internal/vectors.h"
#include "facebench/detection/internal/channel_tile.h"

namespace facebench {
namespace {

// Tiles of sums that fit the registers (32 with AVX-512, else 16) beside what they are made of.
constexpr bool kManyRegisters = FACEBENCH_LANES == 16;

Floats larger(Floats a, Floats b) { return a > b ? a : b; }
constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }

// --- rows of planes
// -------------------------------------------------------------------------------

// Sums and differences of four rows, for both steps of a pair of output rows: d1 + d2, d2 - d1,
// d0 - d2, d3 - d1 of `count` values, and up to a vector more.
[[gnu::always_inline]] inline void combine_rows(const float* const (&d)[4], long count,
                                                float* const (&out)[4]) {
  for (long i = 0; i < count; i += kLanes) {
    const Floats d0 = load(d[0] + i), d1 = load(d[1] + i), d2 = load(d[2] + i), d3 = load(d[3] + i);
    store(out[0] + i, d1 + d2);
    store(out[1] + i, d2 - d1);
    store(out[2] + i, d0 - d2);
    store(out[3] + i, d3 - d1);
  }
}

// Adds the products of one of the four combined rows. Plane c of part p of them begins at
// in + (4 * c + p) * stride.
template <int kInputs, int kOutputs, int kBlock, int kVectors>
[[gnu::always_inline]] inline void planar_part(const float* in, long stride,
                                               const PlanarLayer& layer, int part, int first,
                                               Floats (&sums)[kBlock][kVectors]) {
  const float* weights = layer.weights + part * (kInputs * 3 * kOutputs) + first;
  const float* rows = in + part * stride;
#pragma GCC unroll 1
  for (int c = 0; c < kInputs; ++c, rows += 4 * stride) {
#pragma GCC unroll 3
    for (int kx = 0; kx < 3; ++kx, weights += kOutputs) {
      Floats values[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) values[v] = load(rows + kx + v * kLanes);
#pragma GCC unroll 16
      for (int o = 0; o < kBlock; ++o)
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) sums[o][v] += weights[o] * values[v];
    }
  }
}

// Both rows of kVectors vectors of pixels, kBlock output channels from `first` on.
template <int kInputs, int kOutputs, int kBlock, int kVectors>
[[gnu::always_inline]] inline void planar_tile(const float* in, long stride,
                                               const PlanarLayer& layer, int first, float* upper,
                                               float* lower, long out_stride) {
  Floats a[kBlock][kVectors], b[kBlock][kVectors];
#pragma GCC unroll 16
  for (int o = 0; o < kBlock; ++o)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      a[o][v] = Floats{} + layer.bias[first + o];
      b[o][v] = Floats{};
    }

  planar_part<kInputs, kOutputs>(in, stride, layer, 0, first, a);
  planar_part<kInputs, kOutputs>(in, stride, layer, 1, first, b);
#pragma GCC unroll 16
  for (int o = 0; o < kBlock; ++o)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const Floats m = a[o][v], n = b[o][v];
      a[o][v] = m + n;
      b[o][v] = m - n;
    }
  planar_part<kInputs, kOutputs>(in, stride, layer, 2, first, a);
  planar_part<kInputs, kOutputs>(in, stride, layer, 3, first, b);

#pragma GCC unroll 16
  for (int o = 0; o < kBlock; ++o) {
    const float slope = layer.slope[first + o];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const long at = (first + o) * out_stride + v * kLanes;
      const Floats s = a[o][v], t = b[o][v];
      store(upper + at, s > 0 ? s : s * slope);
      store(lower + at, t > 0 ? t : t * slope);
    }
  }
}

// kVectors vectors a tile where there is room, then fewer of them with more channels.
template <int kInputs, int kOutputs, int kBlock, int kVectors>
void planar_rows(const float* const* rows, long stride, int width, const PlanarLayer& layer,
                 float* upper, float* lower, long out_stride) {
  constexpr int kNarrow = kManyRegisters && kOutputs % 8 == 0 ? 8 : kBlock;
  static_assert(kOutputs % kBlock == 0 && kOutputs % kNarrow == 0);
  constexpr long kStride = (kVectors + 1) * kLanes;
  alignas(64) float combined[4 * kInputs * kStride];
  for (int x = 0; x < width;) {
    const int left = width - x;
    const int vectors = smaller(divide_up(left, kLanes), kVectors);
    for (int c = 0; c < kInputs; ++c) {
      const long at = c * stride + x;
      float* const to = combined + 4 * c * kStride;
      combine_rows({rows[0] + at, rows[1] + at, rows[2] + at, rows[3] + at}, vectors * kLanes + 2,
                   {to, to + kStride, to + 2 * kStride, to + 3 * kStride});
    }
    if (vectors == kVectors) {
      for (int first = 0; first < kOutputs; first += kBlock)
        planar_tile<kInputs, kOutputs, kBlock, kVectors>(combined, kStride, layer, first, upper + x,
                                                         lower + x, out_stride);
    } else if (vectors == 2) {
      for (int first = 0; first < kOutputs; first += kBlock)
        planar_tile<kInputs, kOutputs, kBlock, 2>(combined, kStride, layer, first, upper + x,
                                                  lower + x, out_stride);
    } else {
      for (int first = 0; first < kOutputs; first += kNarrow)
        planar_tile<kInputs, kOutputs, kNarrow, 1>(combined, kStride, layer, first, upper + x,
                                                   lower + x, out_stride);
    }
    x += vectors * kLanes;
  }
}

// Every second value of two vectors.
Floats even(Floats a, Floats b) {
#if FACEBENCH_LANES == 16
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#elif FACEBENCH_LANES == 8
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
#else
  return __builtin_shufflevector(a, b, 0, 2, 4, 6);
#endif
}
Floats odd(Floats a, Floats b) {
#if FACEBENCH_LANES == 16
  return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
#elif FACEBENCH_LANES == 8
  return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
#else
  return __builtin_shufflevector(a, b, 1, 3, 5, 7);
#endif
}

void pnet_pool(const float* top, const float* bottom, long stride, int width, float* out,
               long out_stride) {
  for (int c = 0; c < 10; ++c, top += stride, bottom += stride, out += out_stride) {
    for (int x = 0; x < width; x += kLanes) {
      const Floats a = larger(load(top + 2 * x), load(bottom + 2 * x));
      const Floats b = larger(load(top + 2 * x + kLanes), load(bottom + 2 * x + kLanes));
      store(out + x, larger(even(a, b), odd(a, b)));
    }
  }
}

void pnet_score(const float* in, long stride, int width, const float* weights, float bias,
                float* out) {
  for (int x = 0; x < width; x += kLanes) {
    Floats sum = Floats{} + bias;
    for (int c = 0; c < 32; ++c) sum += weights[c] * load(in + c * stride + x);
    store(out + x, sum);
  }
}

// --- interleaved channels
// -------------------------------------------------------------------------

// Adds the products of one of the four combined rows.
template <int kRun, int kPixels, int kBlocks>
[[gnu::always_inline]] inline void pair_part(const float* in, long pixel, const ConvLayer& layer,
                                             int part, int first,
                                             Floats (&sums)[kPixels][kBlocks]) {
  const float* weights[kBlocks];
#pragma GCC unroll 8
  for (int k = 0; k < kBlocks; ++k) {
    const int channel = first + k * kLanes;
    weights[k] = layer.weights + (channel / 16 * 4 + part) * (16L * kRun) + channel % 16;
  }
#pragma GCC unroll 1
  for (long i = 0; i < kRun; ++i) {
    Floats w[kBlocks];
#pragma GCC unroll 8
    for (int k = 0; k < kBlocks; ++k) w[k] = load(weights[k] + 16 * i);
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      const float value = in[p * pixel + i];
#pragma GCC unroll 8
      for (int k = 0; k < kBlocks; ++k) sums[p][k] += value * w[k];
    }
  }
}

// Both rows of kPixels windows that begin `pixel` values apart, kBlocks vectors of output channels
// from `first` on. A window is `run` values of each of the combined rows.
template <int kRun, int kPixels, int kBlocks>
[[gnu::always_inline]] inline void pair_tile(const float* const (&in)[4], long at, long pixel,
                                             const ConvLayer& layer, int first, float* upper,
                                             float* lower, long out_pixel) {
  Floats a[kPixels][kBlocks], b[kPixels][kBlocks];
#pragma GCC unroll 12
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 8
    for (int k = 0; k < kBlocks; ++k) {
      a[p][k] = load(layer.bias + first + k * kLanes);
      b[p][k] = Floats{};
    }

  pair_part<kRun>(in[0] + at, pixel, layer, 0, first, a);
  pair_part<kRun>(in[1] + at, pixel, layer, 1, first, b);
#pragma GCC unroll 12
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 8
    for (int k = 0; k < kBlocks; ++k) {
      const Floats m = a[p][k], n = b[p][k];
      a[p][k] = m + n;
      b[p][k] = m - n;
    }
  pair_part<kRun>(in[2] + at, pixel, layer, 2, first, a);
  pair_part<kRun>(in[3] + at, pixel, layer, 3, first, b);

#pragma GCC unroll 8
  for (int k = 0; k < kBlocks; ++k) {
    const Floats slope = load(layer.slope + first + k * kLanes);
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      const long to = p * out_pixel + first + k * kLanes;
      const Floats s = a[p][k], t = b[p][k];
      store(upper + to, s > 0 ? s : s * slope);
      store(lower + to, t > 0 ? t : t * slope);
    }
  }
}

// Two output rows of a 3 x 3 convolution with sides known beforehand, from row y of `in` on; where
// there is no second one, it is what the last input row gives once more. `combined` holds four rows
// of `in`; the outputs have kPadded channels a pixel.
template <int kInputs, int kPadded, int kWidth, int kBlocks>
void pair_rows(const float* in, int y, const ConvLayer& layer, float* combined, float* upper,
               float* lower) {
  constexpr int kSide = kWidth + 2;  // of the input
  constexpr long kRow = kSide * kInputs;
  const float* const rows[4] = {in + y * kRow, in + (y + 1) * kRow, in + (y + 2) * kRow,
                                in + smaller(y + 3, kSide - 1) * kRow};
  float* const parts[4] = {combined, combined + kRow, combined + 2 * kRow, combined + 3 * kRow};
  // Each part's end is the next one's beginning: the last vector must not reach into it.
  for (long i = 0; i < kRow; i += kLanes) {
    const long at = i + kLanes <= kRow ? i : kRow - kLanes;
    combine_rows({rows[0] + at, rows[1] + at, rows[2] + at, rows[3] + at}, 1,
                 {parts[0] + at, parts[1] + at, parts[2] + at, parts[3] + at});
  }
  // As few tiles as the registers allow, of sizes as equal as possible.
  // Half of the sums may wait in memory while the other half is added to, where that takes long.
  constexpr int kMost = (kManyRegisters ? (kInputs > 3 ? 28 : 14) : 12) / kBlocks;
  constexpr int kTiles = divide_up(kWidth, kMost);
  constexpr int kPixels = divide_up(kWidth, kTiles);
  constexpr int kLarge = kWidth - kTiles * (kPixels - 1);  // tiles of kPixels, the rest one less
  const float* const from[4] = {parts[0], parts[1], parts[2], parts[3]};
  for (int first = 0; first < kPadded; first += kBlocks * kLanes) {
    int x = 0;
    for (int t = 0; t < kLarge; ++t, x += kPixels)
      pair_tile<3 * kInputs, kPixels, kBlocks>(from, x * kInputs, kInputs, layer, first,
                                               upper + x * kPadded, lower + x * kPadded, kPadded);
    if constexpr (kPixels > 1)
      for (int t = kLarge; t < kTiles; ++t, x += kPixels - 1)
        pair_tile<3 * kInputs, kPixels - 1, kBlocks>(from, x * kInputs, kInputs, layer, first,
                                                     upper + x * kPadded, lower + x * kPadded,
                                                     kPadded);
  }
}

// A 3 x 3 convolution and its pool, two rows of the convolution at a time. The output has kOutputs
// channels a pixel; up to a vector is written beyond its end.
template <int kInputs, int kOutputs, int kWidth, int kWindow>
void convolve_and_pool(const float* in, const ConvLayer& layer, float* combined, float* ring,
                       float* out) {
  constexpr int kPadded = divide_up(kOutputs, 16) * 16;
  constexpr int kBlocks = kManyRegisters && kPadded / kLanes == 3 ? 3 : 2;
  constexpr int kPooled = divide_up(kWidth - kWindow, 2) + 1;
  constexpr long kRow = kWidth * kPadded;
  int done = 0;
  for (int j = 0; j < kPooled; ++j) {
    const int last = smaller(2 * j + kWindow, kWidth);
    for (; done < last; done += 2)
      pair_rows<kInputs, kPadded, kWidth, kBlocks>(
          in, done, layer, combined, ring + done % 4 * kRow, ring + (done + 1) % 4 * kRow);
    for (int i = 0; i < kPooled; ++i, out += kOutputs) {
      const int right = smaller(2 * i + kWindow, kWidth);
      for (int c = 0; c < kOutputs; c += kLanes) {
        Floats most = load(ring + 2 * j % 4 * kRow + 2 * i * kPadded + c);
        for (int y = 2 * j; y < last; ++y)
          for (int x = 2 * i; x < right; ++x)
            most = larger(most, load(ring + y % 4 * kRow + x * kPadded + c));
        store(out + c, most);
      }
    }
  }
}

// A convolution with a kernel of 2 x 2 and a small map, all of whose pixels are one tile where the
// registers allow.
template <int kInputs, int kOutputs, int kWidth>
void convolve(const float* in, const ConvLayer& layer, float* out) {
  constexpr int kRow = (kWidth + 1) * kInputs;
  constexpr int kRows = kManyRegisters ? kWidth : 1;  // of a tile
  constexpr int kBlocks = kManyRegisters ? 2 : 4;
  static_assert(kOutputs % (kBlocks * kLanes) == 0 && kWidth % kRows == 0);
  for (int first = 0; first < kOutputs; first += kBlocks * kLanes)
    for (int y = 0; y < kWidth; y += kRows)
      channel_tile<kRows * kWidth, kBlocks, kWidth>(in + y * kRow, kInputs, 2, 2 * kInputs, kRow,
                                                    layer, first, out + y * kWidth * kOutputs,
                                                    kOutputs);
}

void rnet_features(const float* crop, const ConvLayer* layers, float* scratch, float* features) {
  float* combined = scratch;
  float* ring = combined + 4 * 11 * 28;
  float* a = ring + 4 * 22 * 32;
  float* b = a + 11 * 11 * 28 + kLanes;
  convolve_and_pool<3, 28, 22, 3>(crop, layers[0], combined, ring, a);
  convolve_and_pool<28, 48, 9, 3>(a, layers[1], combined, ring, b);
  convolve<48, 64, 3>(b, layers[2], features);
}

void onet_features(const float* crop, const ConvLayer* layers, float* scratch, float* features) {
  float* combined = scratch;
  float* ring = combined + 4 * 23 * 32;
  float* a = ring + 4 * 46 * 32;
  float* b = a + 23 * 23 * 32;
  float* c = b + 10 * 10 * 64;
  convolve_and_pool<3, 32, 46, 3>(crop, layers[0], combined, ring, a);
  convolve_and_pool<32, 64, 21, 3>(a, layers[1], combined, ring, b);
  convolve_and_pool<64, 64, 8, 2>(b, layers[2], combined, ring, c);
  convolve<64, 128, 3>(c, layers[3], features);
}

template <int kCrops, int kBlocks>
void dense_tile(const float* in, const ConvLayer& layer, float* out) {
  for (int first = 0; first < layer.padded; first += kBlocks * kLanes)
    channel_tile<kCrops, kBlocks>(in, layer.inputs, 1, layer.inputs, 0, layer, first, out,
                                  layer.padded);
}

template <int kBlocks, int kCrops>
void dense_blocks(const float* in, int count, const ConvLayer& layer, float* out) {
  for (; count >= kCrops;
       count -= kCrops, in += kCrops * layer.inputs, out += kCrops * layer.padded)
    dense_tile<kCrops, kBlocks>(in, layer, out);
  if constexpr (kCrops > 1)
    if (count > 0) dense_blocks<kBlocks, kCrops - 1>(in, count, layer, out);
}

void dense(const float* in, int count, const ConvLayer& layer, float* out) {
  if (layer.padded % (4 * kLanes) == 0)
    dense_blocks<4, kManyRegisters ? 6 : 3>(in, count, layer, out);
  else
    dense_blocks<1, 3>(in, count, layer, out);
}

}  // namespace

extern const MtcnnKernels FACEBENCH_FOR_ISA(kMtcnnKernels);
const MtcnnKernels FACEBENCH_FOR_ISA(kMtcnnKernels){
    planar_rows < 3,
    10,
    kManyRegisters ? 5 : 2,
    2 >,
    planar_rows<10, 16, kManyRegisters ? 8 : 4, 3>,
    planar_rows<16, 32, kManyRegisters ? 8 : 4, 3>,
    pnet_pool,
    pnet_score,
    rnet_features,
    onet_features,
    dense,
};

}  // namespace facebench
