#pragma once

// Vectors of a block's channels; for the kernels of inference alone. Every set of instructions has
// its own, so all of it has internal linkage.

#include "facebench/core/internal/vectors.h"
#include "facebench/nn/inference/kernels.h"

namespace facebench {
namespace {

// Sums that fit the registers (32 with AVX-512, else 16) beside what they are made of.
constexpr bool kManyRegisters = FACEBENCH_LANES == 16;

// The 32 bits at p, for all lanes.
[[gnu::always_inline]] inline Bits read_word(const float* p) {
  typedef unsigned Word __attribute__((may_alias));
  return Bits{} + *reinterpret_cast<const Word*>(p);
}

[[gnu::always_inline]] inline Floats larger(Floats a, Floats b) { return a < b ? b : a; }
[[gnu::always_inline]] inline Floats smaller(Floats a, Floats b) { return b < a ? b : a; }

// Takes from the compiler what it knows of v, so that it computes with it as is written here.
template <class Vector>
[[gnu::always_inline]] inline void forget(Vector& v) {
#if defined(__x86_64__)
  asm("" : "+v"(v));
#endif
}

// x in all lanes. Of a comparison with a constant the compiler makes two instructions, where there
// is one for the larger or smaller of two numbers.
[[gnu::always_inline]] inline Floats hidden(float x) {
  Floats v = Floats{} + x;
  forget(v);
  return v;
}

// Comparisons are such that a NaN stays one.
[[gnu::always_inline]] inline Floats activate(Floats v, Activation kind, Floats slope) {
  switch (kind) {
    case Activation::none:
      break;
    case Activation::relu:
      return larger(v, hidden(0));
    case Activation::relu6:
      return smaller(larger(v, hidden(0)), hidden(6));
    case Activation::prelu:
      return v < 0 ? v * slope : v;
  }
  return v;
}

// The slopes of a block; anything where there are none.
[[gnu::always_inline]] inline Floats slope_of(const ActivationStage& stage, long channel) {
  return stage.kind == Activation::prelu ? load(stage.slope + channel) : Floats{};
}

}  // namespace
}  // namespace facebench
