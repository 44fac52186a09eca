// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "nn/inference/conv_finish.h"

namespace facebench {
namespace {

// The most pixels of a tile whose sums, for so many blocks, stay in registers.
constexpr int most_pixels(int blocks) {
  if (kManyRegisters) return blocks == 3 ? 9 : 14;
  return blocks == 3 ? 4 : 6;
}
constexpr int kMostPixels = kManyRegisters ? 14 : 6;

// kRows rows of kPixels outputs from (y, x) on. Every output is the bias and then its products in
// one order, whatever tile it is part of.
template <int kBlocks, int kRows, int kPixels, int kStep>
void tile(const ConvWork& w, long y, long x) {
  Floats sums[kBlocks][kRows * kPixels];
#pragma GCC unroll 3
  for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 14
    for (int p = 0; p < kRows * kPixels; ++p) sums[b][p] = load(w.bias + b * kLanes);

  const long row = w.in.row * w.window.step_down;
  const float* in = w.in.data + y * row + x * (kStep * kLanes);
  const float* weights = w.weights;
  for (int block = 0; block < w.in_blocks; ++block, in += w.in.block) {
    const int channels = block + 1 < w.in_blocks ? kLanes : w.last_channels;
    if (block + 1 < w.in_blocks) {
      // The next block lies elsewhere: no processor foresees it.
#pragma GCC unroll 2
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 14
        for (int p = 0; p < kPixels; ++p)
          __builtin_prefetch(in + w.in.block + r * row + p * kStep * kLanes);
    }
    for (int ky = 0; ky < w.window.height; ++ky)
      for (int kx = 0; kx < w.window.width; ++kx) {
        const float* from = in + ky * w.window.tap_row + kx * w.window.tap_column;
#pragma GCC unroll 4
        for (int c = 0; c < channels; ++c, ++from, weights += kBlocks * kLanes) {
          Floats of[kBlocks];
#pragma GCC unroll 3
          for (int b = 0; b < kBlocks; ++b) of[b] = load(weights + b * kLanes);
#pragma GCC unroll 2
          for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 14
            for (int p = 0; p < kPixels; ++p) {
              const float value = from[r * row + p * kStep * kLanes];
#pragma GCC unroll 3
              for (int b = 0; b < kBlocks; ++b) sums[b][r * kPixels + p] += of[b] * value;
            }
        }
      }
  }
  alignas(64) float kept[kBlocks * kRows * kPixels * kLanes];
#pragma GCC unroll 3
  for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 14
    for (int p = 0; p < kRows * kPixels; ++p)
      store(kept + (b * kRows * kPixels + p) * kLanes, sums[b][p]);
  for (int r = 0; r < kRows; ++r)
    finish(w, kept + r * kPixels * kLanes, kBlocks, kRows * kPixels, kPixels, y + r, x);
}

using Tile = void (*)(const ConvWork&, long, long);

template <int kBlocks, int kRows, int kStep>
struct Tiles {
  Tile of[kMostPixels + 1] = {};
  constexpr Tiles() { add<most_pixels(kBlocks) / kRows>(); }
  template <int kPixels>
  constexpr void add() {
    of[kPixels] = tile<kBlocks, kRows, kPixels, kStep>;
    if constexpr (kPixels > 1) add<kPixels - 1>();
  }
};

template <int kBlocks, int kStep>
void conv_rows(const ConvWork& w, long from, long to) {
  static constexpr Tiles<kBlocks, 1, kStep> kOne;
  static constexpr Tiles<kBlocks, 2, kStep> kTwo;
  constexpr long kMost = most_pixels(kBlocks);
  // Narrow rows by twos, so that as many sums are in flight as there is room for.
  const bool pairs = w.width <= kMost / 2;
  for (long y = from; y < to;) {
    const long width = y * w.width + w.width <= w.pixels ? w.width : w.pixels - y * w.width;
    if (pairs && y + 2 <= to && (y + 2) * w.width <= w.pixels) {
      kTwo.of[width](w, y, 0);
      y += 2;
      continue;
    }
    // Tiles of about the same size.
    const long tiles = (width + kMost - 1) / kMost;
    for (long t = 0, x = 0; t < tiles; ++t) {
      const long end = width * (t + 1) / tiles;
      kOne.of[end - x](w, y, x);
      x = end;
    }
    ++y;
  }
}

template <int kBlocks>
void conv_blocks(const ConvWork& w, long from, long to) {
  if (w.window.step_right == 1)
    conv_rows<kBlocks, 1>(w, from, to);
  else
    conv_rows<kBlocks, 2>(w, from, to);
}

void conv(const ConvWork& w, int blocks, long from, long to) {
  if (blocks == 1) conv_blocks<1>(w, from, to);
  if (blocks == 2) conv_blocks<2>(w, from, to);
  if (blocks == 3) conv_blocks<3>(w, from, to);
}

}  // namespace

extern const ConvKernel FACEBENCH_FOR_ISA(kConvKernel);
const ConvKernel FACEBENCH_FOR_ISA(kConvKernel) = {conv};

}  // namespace facebench
