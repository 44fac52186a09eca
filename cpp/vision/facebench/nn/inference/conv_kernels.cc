// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "facebench/nn/inference/conv_tiles.h"

namespace facebench {
namespace {

struct FloatNumbers {
  using Words = Floats;
  using Sums = Floats;
  static constexpr int per_word = 1;
  [[gnu::always_inline]] static Floats begin(const ConvWork& w, long c) { return load(w.bias + c); }
  [[gnu::always_inline]] static float read(const float* p) { return *p; }
  [[gnu::always_inline]] static Floats add(Floats sums, Floats of, float value) {
    return sums + of * value;
  }
  [[gnu::always_inline]] static Floats end(const ConvWork&, long, Floats sums) { return sums; }
};

}  // namespace

extern const ConvKernel FACEBENCH_FOR_ISA(kConvKernel);
const ConvKernel FACEBENCH_FOR_ISA(kConvKernel) = {FloatNumbers::per_word, conv<FloatNumbers>,
                                                   nullptr};

}  // namespace facebench
