// The body of mtcnn_kernels_*.cc. FACEBENCH_LANES is the number of floats in a vector register,
// FACEBENCH_KERNELS the name of the result.
#include "detection/mtcnn_kernels.h"

namespace facebench {
namespace {

constexpr int kLanes = FACEBENCH_LANES;
// Tiles of sums that fit the registers (32 with AVX-512, else 16) beside what they are made of.
constexpr bool kManyRegisters = FACEBENCH_LANES == 16;

typedef float Lanes __attribute__((vector_size(4 * FACEBENCH_LANES), aligned(4), may_alias));

const Lanes& load(const float* p) { return *reinterpret_cast<const Lanes*>(p); }
void store(float* p, const Lanes& v) { *reinterpret_cast<Lanes*>(p) = v; }
Lanes larger(const Lanes& a, const Lanes& b) { return a > b ? a : b; }
constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }

// --- rows of planes
// -------------------------------------------------------------------------------

// kVectors vectors of pixels from x on, kBlock output channels from `first` on.
template <int kInputs, int kOutputs, int kBlock, int kVectors>
void planar_tile(const float* const (&rows)[3], long stride, int x, const PlanarLayer& layer,
                 int first, float* out, long out_stride) {
  Lanes sums[kBlock][kVectors];
#pragma GCC unroll 16
  for (int o = 0; o < kBlock; ++o)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[o][v] = Lanes{} + layer.bias[first + o];

  const float* weights = layer.weights + first;
#pragma GCC unroll 1
  for (int c = 0; c < kInputs; ++c) {
#pragma GCC unroll 3
    for (int ky = 0; ky < 3; ++ky) {
      const float* in = rows[ky] + c * stride + x;
#pragma GCC unroll 3
      for (int kx = 0; kx < 3; ++kx, weights += kOutputs) {
        Lanes values[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) values[v] = load(in + kx + v * kLanes);
#pragma GCC unroll 16
        for (int o = 0; o < kBlock; ++o)
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) sums[o][v] += weights[o] * values[v];
      }
    }
  }

#pragma GCC unroll 16
  for (int o = 0; o < kBlock; ++o) {
    const float slope = layer.slope[first + o];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const Lanes s = sums[o][v];
      store(out + (first + o) * out_stride + x + v * kLanes, s > 0 ? s : s * slope);
    }
  }
}

template <int kInputs, int kOutputs, int kBlock, int kVectors>
void planar_row(const float* const* rows, long stride, int width, const PlanarLayer& layer,
                float* out, long out_stride) {
  static_assert(kOutputs % kBlock == 0);
  const float* const inputs[3] = {rows[0], rows[1], rows[2]};
  int x = 0;
  for (; width - x > (kVectors - 1) * kLanes; x += kVectors * kLanes)
    for (int first = 0; first < kOutputs; first += kBlock)
      planar_tile<kInputs, kOutputs, kBlock, kVectors>(inputs, stride, x, layer, first, out,
                                                       out_stride);
  if constexpr (kVectors > 2)
    for (; width - x > kLanes; x += 2 * kLanes)
      for (int first = 0; first < kOutputs; first += kBlock)
        planar_tile<kInputs, kOutputs, kBlock, 2>(inputs, stride, x, layer, first, out, out_stride);
  for (; x < width; x += kLanes)
    for (int first = 0; first < kOutputs; first += kBlock)
      planar_tile<kInputs, kOutputs, kBlock, 1>(inputs, stride, x, layer, first, out, out_stride);
}

// Every second value of two vectors.
Lanes even(const Lanes& a, const Lanes& b) {
#if FACEBENCH_LANES == 16
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#elif FACEBENCH_LANES == 8
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
#else
  return __builtin_shufflevector(a, b, 0, 2, 4, 6);
#endif
}
Lanes odd(const Lanes& a, const Lanes& b) {
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
      const Lanes a = larger(load(top + 2 * x), load(bottom + 2 * x));
      const Lanes b = larger(load(top + 2 * x + kLanes), load(bottom + 2 * x + kLanes));
      store(out + x, larger(even(a, b), odd(a, b)));
    }
  }
}

void pnet_score(const float* in, long stride, int width, const float* weights, float bias,
                float* out) {
  for (int x = 0; x < width; x += kLanes) {
    Lanes sum = Lanes{} + bias;
    for (int c = 0; c < 32; ++c) sum += weights[c] * load(in + c * stride + x);
    store(out + x, sum);
  }
}

// --- interleaved channels
// -------------------------------------------------------------------------

// kPixels windows that begin `pixel` values apart, kBlocks vectors of output channels from `first`
// on. A window is `rows` rows of `run` values.
template <int kPixels, int kBlocks>
[[gnu::always_inline]] inline void channel_tile(const float* in, long pixel, int rows, int run,
                                                long row_stride, const ConvLayer& layer, int first,
                                                float* out, long out_pixel) {
  Lanes sums[kPixels][kBlocks];
#pragma GCC unroll 12
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 8
    for (int b = 0; b < kBlocks; ++b) sums[p][b] = load(layer.bias + first + b * kLanes);

  const float* weights[kBlocks];
#pragma GCC unroll 8
  for (int b = 0; b < kBlocks; ++b) {
    const int channel = first + b * kLanes;
    weights[b] = layer.weights + channel / 16 * (16L * rows * run) + channel % 16;
  }
  long at = 0;
  for (int y = 0; y < rows; ++y, in += row_stride) {
#pragma GCC unroll 1
    for (int i = 0; i < run; ++i, at += 16) {
      Lanes w[kBlocks];
#pragma GCC unroll 8
      for (int b = 0; b < kBlocks; ++b) w[b] = load(weights[b] + at);
#pragma GCC unroll 12
      for (int p = 0; p < kPixels; ++p) {
        const float value = in[p * pixel + i];
#pragma GCC unroll 8
        for (int b = 0; b < kBlocks; ++b) sums[p][b] += value * w[b];
      }
    }
  }

#pragma GCC unroll 8
  for (int b = 0; b < kBlocks; ++b) {
    const Lanes slope = load(layer.slope + first + b * kLanes);
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      const Lanes s = sums[p][b];
      store(out + p * out_pixel + first + b * kLanes, s > 0 ? s : s * slope);
    }
  }
}

// One output row of a convolution with sides known beforehand; `out` has kPadded channels a pixel.
template <int kInputs, int kKernel, int kPadded, int kWidth, int kBlocks>
void channel_row(const float* in, const ConvLayer& layer, float* out) {
  constexpr int kSide = kWidth + kKernel - 1;  // of the input
  // As few tiles as the registers allow, of sizes as equal as possible.
  constexpr int kMost = (kManyRegisters ? 28 : 12) / kBlocks;
  constexpr int kTiles = divide_up(kWidth, kMost);
  constexpr int kPixels = divide_up(kWidth, kTiles);
  constexpr int kLarge = kWidth - kTiles * (kPixels - 1);  // tiles of kPixels, the rest one less
  for (int first = 0; first < kPadded; first += kBlocks * kLanes) {
    int x = 0;
    for (int t = 0; t < kLarge; ++t, x += kPixels)
      channel_tile<kPixels, kBlocks>(in + x * kInputs, kInputs, kKernel, kKernel * kInputs,
                                     kSide * kInputs, layer, first, out + x * kPadded, kPadded);
    if constexpr (kPixels > 1)
      for (int t = kLarge; t < kTiles; ++t, x += kPixels - 1)
        channel_tile<kPixels - 1, kBlocks>(in + x * kInputs, kInputs, kKernel, kKernel * kInputs,
                                           kSide * kInputs, layer, first, out + x * kPadded,
                                           kPadded);
  }
}

// Vectors of output channels that a tile has: what divides the layer and leaves room for pixels.
template <int kPadded, int kWidth>
constexpr int blocks() {
  constexpr int vectors = kPadded / kLanes;
  if (kWidth <= 3) return 4;
  if (kManyRegisters && vectors == 3) return 3;
  return 2;
}

// A convolution and its pool, three rows of the convolution at a time. The output has kOutputs
// channels a pixel; up to a vector is written beyond its end.
template <int kInputs, int kKernel, int kOutputs, int kWidth, int kWindow>
void convolve_and_pool(const float* in, const ConvLayer& layer, float* ring, float* out) {
  constexpr int kPadded = divide_up(kOutputs, 16) * 16;
  constexpr int kSide = kWidth + kKernel - 1;
  constexpr int kPooled = divide_up(kWidth - kWindow, 2) + 1;
  int done = 0;
  for (int j = 0; j < kPooled; ++j) {
    const int last = smaller(2 * j + kWindow, kWidth);
    for (; done < last; ++done)
      channel_row<kInputs, kKernel, kPadded, kWidth, blocks<kPadded, kWidth>()>(
          in + done * kSide * kInputs, layer, ring + done % 3 * kWidth * kPadded);
    for (int i = 0; i < kPooled; ++i, out += kOutputs) {
      const int right = smaller(2 * i + kWindow, kWidth);
      for (int c = 0; c < kOutputs; c += kLanes) {
        Lanes most = load(ring + (2 * j % 3 * kWidth + 2 * i) * kPadded + c);
        for (int y = 2 * j; y < last; ++y)
          for (int x = 2 * i; x < right; ++x)
            most = larger(most, load(ring + (y % 3 * kWidth + x) * kPadded + c));
        store(out + c, most);
      }
    }
  }
}

template <int kInputs, int kKernel, int kOutputs, int kWidth>
void convolve(const float* in, const ConvLayer& layer, float* out) {
  constexpr int kSide = kWidth + kKernel - 1;
  for (int y = 0; y < kWidth; ++y)
    channel_row<kInputs, kKernel, kOutputs, kWidth, blocks<kOutputs, kWidth>()>(
        in + y * kSide * kInputs, layer, out + y * kWidth * kOutputs);
}

void rnet_features(const float* crop, const ConvLayer* layers, float* scratch, float* features) {
  float* ring = scratch;
  float* a = ring + 3 * 22 * 32;
  float* b = a + 11 * 11 * 28 + kLanes;
  convolve_and_pool<3, 3, 28, 22, 3>(crop, layers[0], ring, a);
  convolve_and_pool<28, 3, 48, 9, 3>(a, layers[1], ring, b);
  convolve<48, 2, 64, 3>(b, layers[2], features);
}

void onet_features(const float* crop, const ConvLayer* layers, float* scratch, float* features) {
  float* ring = scratch;
  float* a = ring + 3 * 46 * 32;
  float* b = a + 23 * 23 * 32;
  float* c = b + 10 * 10 * 64;
  convolve_and_pool<3, 3, 32, 46, 3>(crop, layers[0], ring, a);
  convolve_and_pool<32, 3, 64, 21, 3>(a, layers[1], ring, b);
  convolve_and_pool<64, 3, 64, 8, 2>(b, layers[2], ring, c);
  convolve<64, 2, 128, 3>(c, layers[3], features);
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

extern const MtcnnKernels FACEBENCH_KERNELS;
const MtcnnKernels FACEBENCH_KERNELS{
    planar_row < 3,
    10,
    kManyRegisters ? 10 : 5,
    2 >,
    planar_row<10, 16, kManyRegisters ? 8 : 4, 3>,
    planar_row<16, 32, kManyRegisters ? 8 : 4, 3>,
    pnet_pool,
    pnet_score,
    rnet_features,
    onet_features,
    dense,
};

}  // namespace facebench
