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
constexpr long kLine = 16;  // floats of a line of the caches
constexpr int kUnrolledWords = kManyRegisters ? 4 : 8;
// The cache that weights are asked into ahead of their use, as __builtin_prefetch counts: with
// AVX-512 the second, since a Xeon's first one waits for sixteen lines at most; else the first.
constexpr int kAheadInto = kManyRegisters ? 2 : 3;

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

// One turn of a slab's tiles: those over some blocks of the input.
struct Turn {
  int from = 0, to = 0;  // blocks
  // Sums of tiles, one after the other, that an earlier turn left or a later one goes on with.
  float* sums = nullptr;
  bool begins = true, ends = true;
  bool in_registers = true;
  // The lines of the weights that come after those of a tap, of which each tile asks for its share:
  // the floats to the next share, its lines, and the floats to the end of all.
  long ahead = 0;
  int lines = 0;
  long ahead_end = 0;
};

// kRows rows of kPixels outputs from (y, x) on. Every output is the bias and then its products in
// one order, whatever tile and turns it is part of.
template <class Numbers, int kBlocks, int kRows, int kPixels, int kStep>
[[gnu::always_inline]] inline void tile(const ConvWork& w, const Turn& turn, long y, long x) {
  using Words = typename Numbers::Words;
  using Sums = typename Numbers::Sums;
  constexpr int kWords = kLanes / Numbers::per_word;
  constexpr int kPixelsOfLine = kStep * kWords < kLine ? kLine / (kStep * kWords) : 1;
  constexpr int kOutputs = kRows * kPixels;
  Sums sums[kBlocks][kOutputs];
#pragma GCC unroll 3
  for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 14
    for (int p = 0; p < kOutputs; ++p)
      sums[b][p] = turn.begins ? Numbers::begin(w, b * kLanes)
                               : load<Sums>(turn.sums + (b * kOutputs + p) * kLanes);

  const long row = w.in.row * w.window.step_down;
  const float* in = w.in.data + turn.from * w.in.block + y * row + x * (kStep * kWords);
  const float* weights = static_cast<const float*>(w.weights) +
                         turn.from * w.window.count * (kWords * kBlocks * kLanes);
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
  for (int block = turn.from + 1; block <= turn.to; ++block, in += w.in.block) {
    if (block != turn.to) {
      // The next block lies elsewhere: no processor foresees it.
#pragma GCC unroll 2
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 14
        for (int p = 0; p < kPixels; p += kPixelsOfLine)
          __builtin_prefetch(in + w.in.block + r * row + p * kStep * kWords);
    }
    // One loop over the taps, and one whose count the compiler knows: what is kept of loops around
    // it would leave the few registers and cost a tenth of the time.
    if (block != w.in_blocks || w.last_words == kWords) {
      for (const long* tap = w.window.taps; tap != taps_end; ++tap) {
        const float* from = in + *tap;
        for (int line = 0; line < turn.lines; ++line)
          __builtin_prefetch(weights + turn.ahead + line * kLine, 0, kAheadInto);
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
  if (!turn.ends) {
#pragma GCC unroll 3
    for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 14
      for (int p = 0; p < kOutputs; ++p) store(turn.sums + (b * kOutputs + p) * kLanes, sums[b][p]);
    return;
  }
  Floats ends[kBlocks][kOutputs];
#pragma GCC unroll 3
  for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 14
    for (int p = 0; p < kOutputs; ++p) ends[b][p] = Numbers::end(w, b * kLanes, sums[b][p]);
  if (turn.in_registers) {
    finish_in_registers<kBlocks, kRows, kPixels>(w, ends, y, x);
    return;
  }
  alignas(64) float kept[kBlocks * kOutputs * kLanes];
#pragma GCC unroll 3
  for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 14
    for (int p = 0; p < kOutputs; ++p) store(kept + (b * kOutputs + p) * kLanes, ends[b][p]);
  for (int r = 0; r < kRows; ++r)
    finish(w, kept + r * kPixels * kLanes, kBlocks, kOutputs, kPixels, y + r, x);
}

// `count` tiles side by side: with 64 channels a call for each would take a fortieth more.
template <class Numbers, int kBlocks, int kRows, int kPixels, int kStep>
void tiles(const ConvWork& w, Turn& turn, long y, long x, long count) {
  for (const long end = x + count * kPixels; x < end; x += kPixels) {
    tile<Numbers, kBlocks, kRows, kPixels, kStep>(w, turn, y, x);
    if (turn.sums) turn.sums += kBlocks * kRows * kPixels * kLanes;
    turn.ahead += turn.lines * kLine;
    if (turn.ahead >= turn.ahead_end) turn.lines = 0;
  }
}

using TilesOf = void (*)(const ConvWork&, Turn&, long, long, long);

template <class Numbers, int kBlocks, int kRows, int kStep>
struct Tiles {
  TilesOf of[kMostPixels + 1] = {};
  constexpr Tiles() { add<most_pixels(kBlocks) / kRows>(); }
  template <int kPixels>
  constexpr void add() {
    of[kPixels] = tiles<Numbers, kBlocks, kRows, kPixels, kStep>;
    if constexpr (kPixels > 1) add<kPixels - 1>();
  }
};

constexpr long ceil_div(long count, long of) { return (count + of - 1) / of; }

// Rows [from, to), in tiles of about the same size over one row or two.
template <class Numbers, int kBlocks, int kStep>
void conv_turn(const ConvWork& w, Turn turn, long from, long to) {
  static constexpr Tiles<Numbers, kBlocks, 1, kStep> kOne;
  static constexpr Tiles<Numbers, kBlocks, 2, kStep> kTwo;
  constexpr long kMost = most_pixels(kBlocks);
  const auto row = [&](const auto& sizes, long most, long width, long y) {
    const long count = ceil_div(width, most), least = width / count, wide = width % count;
    sizes.of[least](w, turn, y, 0, count - wide);
    if (wide > 0) sizes.of[least + 1](w, turn, y, (count - wide) * least, wide);
  };
  const bool pairs = ceil_div(w.width, kMost / 2) < 2 * ceil_div(w.width, kMost);
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

// Weights of a slab that the second cache does not keep are read in turns, each of which fits the
// first cache and serves so many pixels, whose sums wait for the next.
constexpr long kTurnFloats = 8 << 10;
constexpr long kTurnPixels = 224;

template <class Numbers, int kBlocks, int kStep>
void conv_rows(const ConvWork& w, long from, long to) {
  constexpr long kTapFloats = kLanes / Numbers::per_word * kBlocks * kLanes;
  const long of_block = w.window.count * kTapFloats, all = w.in_blocks * of_block;
  const bool turns = all > 2 * kTurnFloats && w.width <= kTurnPixels;
  const long count = turns ? ceil_div(all, kTurnFloats) : 1;
  const long rows = turns ? kTurnPixels / w.width : to - from;
  alignas(64) float sums[kTurnPixels * kBlocks * kLanes];
  Turn turn;
  turn.in_registers = finishes_in_registers(w);
  for (long y = from; y < to; y += rows) {
    const long end = y + rows < to ? y + rows : to;
    for (long t = 0; t < count; ++t) {
      turn.from = static_cast<int>(w.in_blocks * t / count);
      turn.to = static_cast<int>(w.in_blocks * (t + 1) / count);
      turn.begins = t == 0;
      turn.ends = t + 1 == count;
      turn.sums = turns ? sums : nullptr;
      turn.lines = 0;
      if (!turn.ends || (w.weights_follow && y == from)) {
        turn.ahead = (turn.to - turn.from) * of_block;
        turn.ahead_end = turn.ahead + kTapFloats;
        const long shares = ceil_div((end - y) * w.width, most_pixels(kBlocks));
        turn.lines = static_cast<int>(ceil_div(kTapFloats / kLine, shares));
      }
      conv_turn<Numbers, kBlocks, kStep>(w, turn, y, end);
    }
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
