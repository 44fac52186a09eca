#pragma once

// For files that are compiled for several instruction sets, as vectors.h is.
#include "facebench/core/internal/vectors.h"
#include "facebench/detection/internal/conv_layer.h"

namespace facebench {
namespace {

// kPixels windows, kPerRow of them `pixel` values apart in each row of the input, kBlocks vectors
// of output channels from `first` on. A window is `rows` rows of `run` values.
template <int kPixels, int kBlocks, int kPerRow = kPixels>
[[gnu::always_inline]] inline void channel_tile(const float* in, long pixel, int rows, int run,
                                                long row_stride, const ConvLayer& layer, int first,
                                                float* out, long out_pixel) {
  Floats sums[kPixels][kBlocks];
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
    for (long i = 0; i < run; ++i, at += 16) {
      Floats w[kBlocks];
#pragma GCC unroll 8
      for (int b = 0; b < kBlocks; ++b) w[b] = load(weights[b] + at);
#pragma GCC unroll 12
      for (int p = 0; p < kPixels; ++p) {
        const float value = in[p / kPerRow * row_stride + p % kPerRow * pixel + i];
#pragma GCC unroll 8
        for (int b = 0; b < kBlocks; ++b) sums[p][b] += value * w[b];
      }
    }
  }

#pragma GCC unroll 8
  for (int b = 0; b < kBlocks; ++b) {
    const Floats slope = load(layer.slope + first + b * kLanes);
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      const Floats s = sums[p][b];
      store(out + p * out_pixel + first + b * kLanes, s > 0 ? s : s * slope);
    }
  }
}

}  // namespace
}  // namespace facebench
