#pragma once

// Tiles of convolutions whose sums stay in registers; for the kernels of inference alone. `Numbers`
// says what is multiplied:
//   Words, Sums           vectors of as many words and sums as there are lanes
//   per_word              numbers of a word
//   begin(w, c)           the sums before the first product, from channel c of the slab on
//   read(p)               the word at p, for all lanes
//   add(sums, of, value)  the products of a vector of words and that word added
//   end(w, c, sums)       the sums as floats

#include "facebench/nn/inference/conv_finish.h"

namespace facebench {
namespace {

// The most pixels of a tile whose sums, for so many blocks, stay in registers.
constexpr int most_pixels(int blocks) {
  if (kManyRegisters) return blocks == 3 ? 9 : 14;
  return blocks == 3 ? 4 : 6;
}
constexpr int kMostPixels = kManyRegisters ? 14 : 6;
constexpr int kUnrolledWords = kManyRegisters ? 4 : 8;

// What follows the sums of most layers is applied before they leave the registers: the residual,
// then the activation.
inline bool finishes_in_registers(const ConvWork& w) {
  return w.out.data && !w.affine.data && !w.larger_of_two && (!w.residual.data || w.residual_first);
}

// The sums of a tile of rows of outputs, from (y, x) on, as outputs.
template <int kBlocks, int kRows, int kPixels>
[[gnu::always_inline]] inline void finish_in_registers(const ConvWork& w,
                                                       Floats (&sums)[kBlocks][kRows * kPixels],
                                                       long y, long x) {
  if (w.residual.data) {
#pragma GCC unroll 3
    for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 14
      for (int p = 0; p < kRows * kPixels; ++p)
        sums[b][p] += load(w.residual.data + b * w.residual.block +
                           (y + p / kPixels) * w.residual.row + (x + p % kPixels) * kLanes);
  }
  const auto activated = [&](Activation kind) [[gnu::always_inline]] {
#pragma GCC unroll 3
    for (int b = 0; b < kBlocks; ++b) {
      const Floats slope = slope_of(w.activation, b * kLanes);
#pragma GCC unroll 14
      for (int p = 0; p < kRows * kPixels; ++p) sums[b][p] = activate(sums[b][p], kind, slope);
    }
  };
  if (w.activation.kind == Activation::relu) activated(Activation::relu);
  if (w.activation.kind == Activation::relu6) activated(Activation::relu6);
  if (w.activation.kind == Activation::prelu) activated(Activation::prelu);
#pragma GCC unroll 3
  for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 14
    for (int p = 0; p < kRows * kPixels; ++p)
      store(
          w.out.data + b * w.out.block + (y + p / kPixels) * w.out.row + (x + p % kPixels) * kLanes,
          sums[b][p]);
}

// kRows rows of kPixels outputs from (y, x) on. Every output is the bias and then its products in
// one order, whatever tile it is part of.
template <class Numbers, int kBlocks, int kRows, int kPixels, int kStep>
void tile(const ConvWork& w, bool in_registers, long y, long x) {
  using Words = typename Numbers::Words;
  constexpr int kWords = kLanes / Numbers::per_word;
  typename Numbers::Sums sums[kBlocks][kRows * kPixels];
#pragma GCC unroll 3
  for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 14
    for (int p = 0; p < kRows * kPixels; ++p) sums[b][p] = Numbers::begin(w, b * kLanes);

  const long row = w.in.row * w.window.step_down;
  const float* in = w.in.data + y * row + x * (kStep * kWords);
  auto weights = static_cast<const float*>(w.weights);
  // Of one word of each pixel.
  const auto products = [&](const float* from) [[gnu::always_inline]] {
    Words of[kBlocks];
#pragma GCC unroll 3
    for (int b = 0; b < kBlocks; ++b) of[b] = load<Words>(weights + b * kLanes);
#pragma GCC unroll 2
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 14
      for (int p = 0; p < kPixels; ++p) {
        const auto value = Numbers::read(from + r * row + p * kStep * kWords);
#pragma GCC unroll 3
        for (int b = 0; b < kBlocks; ++b)
          sums[b][r * kPixels + p] = Numbers::add(sums[b][r * kPixels + p], of[b], value);
      }
  };
  const long* const taps_end = w.window.taps + w.window.count;
  for (int block = 1; block <= w.in_blocks; ++block, in += w.in.block) {
    const bool last = block == w.in_blocks;
    if (!last) {
      // The next block lies elsewhere: no processor foresees it.
#pragma GCC unroll 2
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 14
        for (int p = 0; p < kPixels; ++p)
          __builtin_prefetch(in + w.in.block + r * row + p * kStep * kWords);
    }
    // One loop over the taps, and one whose count the compiler knows: what is kept of loops around
    // it would leave the few registers and cost a tenth of the time.
    if (!last || w.last_words == kWords) {
      for (const long* tap = w.window.taps; tap != taps_end; ++tap) {
        const float* from = in + *tap;
#pragma GCC unroll kUnrolledWords
        for (int c = 0; c < kWords; ++c, ++from, weights += kBlocks * kLanes) products(from);
      }
    } else {
      for (const long* tap = w.window.taps; tap != taps_end; ++tap) {
        const float* from = in + *tap;
        for (int c = 0; c < w.last_words; ++c, ++from, weights += kBlocks * kLanes) products(from);
      }
    }
  }
  Floats ends[kBlocks][kRows * kPixels];
#pragma GCC unroll 3
  for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 14
    for (int p = 0; p < kRows * kPixels; ++p) ends[b][p] = Numbers::end(w, b * kLanes, sums[b][p]);
  if (in_registers) {
    finish_in_registers<kBlocks, kRows, kPixels>(w, ends, y, x);
    return;
  }
  alignas(64) float kept[kBlocks * kRows * kPixels * kLanes];
#pragma GCC unroll 3
  for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 14
    for (int p = 0; p < kRows * kPixels; ++p)
      store(kept + (b * kRows * kPixels + p) * kLanes, ends[b][p]);
  for (int r = 0; r < kRows; ++r)
    finish(w, kept + r * kPixels * kLanes, kBlocks, kRows * kPixels, kPixels, y + r, x);
}

using Tile = void (*)(const ConvWork&, bool, long, long);

template <class Numbers, int kBlocks, int kRows, int kStep>
struct Tiles {
  Tile of[kMostPixels + 1] = {};
  constexpr Tiles() { add<most_pixels(kBlocks) / kRows>(); }
  template <int kPixels>
  constexpr void add() {
    of[kPixels] = tile<Numbers, kBlocks, kRows, kPixels, kStep>;
    if constexpr (kPixels > 1) add<kPixels - 1>();
  }
};

template <class Numbers, int kBlocks, int kStep>
void conv_rows(const ConvWork& w, long from, long to) {
  static constexpr Tiles<Numbers, kBlocks, 1, kStep> kOne;
  static constexpr Tiles<Numbers, kBlocks, 2, kStep> kTwo;
  const bool in_registers = finishes_in_registers(w);
  const auto tiles = [](long width, long most) { return (width + most - 1) / most; };
  // Tiles of about the same size, over one row or two.
  const auto row = [&](const auto& sizes, long most, long width, long y) {
    for (long t = 0, x = 0, count = tiles(width, most); t < count; ++t) {
      const long end = width * (t + 1) / count;
      sizes.of[end - x](w, in_registers, y, x);
      x = end;
    }
  };
  constexpr long kMost = most_pixels(kBlocks);
  const bool pairs = tiles(w.width, kMost / 2) < 2 * tiles(w.width, kMost);
  for (long y = from; y < to;) {
    if (pairs && y + 2 <= to && (y + 2) * w.width <= w.pixels) {
      row(kTwo, kMost / 2, w.width, y);
      y += 2;
      continue;
    }
    row(kOne, kMost, y * w.width + w.width <= w.pixels ? w.width : w.pixels - y * w.width, y);
    ++y;
  }
}

template <class Numbers, int kBlocks>
void conv_blocks(const ConvWork& w, long from, long to) {
  if (w.window.step_right == 1)
    conv_rows<Numbers, kBlocks, 1>(w, from, to);
  else
    conv_rows<Numbers, kBlocks, 2>(w, from, to);
}

template <class Numbers>
void conv(const ConvWork& w, int blocks, long from, long to) {
  if (blocks == 1) conv_blocks<Numbers, 1>(w, from, to);
  if (blocks == 2) conv_blocks<Numbers, 2>(w, from, to);
  if (blocks == 3) conv_blocks<Numbers, 3>(w, from, to);
}

}  // namespace
}  // namespace facebench
