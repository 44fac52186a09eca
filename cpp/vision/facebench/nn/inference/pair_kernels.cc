// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "facebench/nn/inference/conv_tiles.h"
#include "facebench/nn/inference/pair_words.h"

namespace facebench {
namespace {

// Sums of products of two bfloat16 each. The product of the second numbers is added first, then
// that of the first ones, each sum rounded to float: what vdpbf16ps does on the processors that
// have it, which takes denormal numbers and sums as zeros besides.
struct PairNumbers {
  using Words = Bits;
  using Sums = Floats;
  static constexpr int per_word = 2;
  [[gnu::always_inline]] static Floats begin(const ConvWork& w, long c) { return load(w.bias + c); }
  [[gnu::always_inline]] static Bits read(const float* p) { return read_word(p); }
  [[gnu::always_inline]] static Floats add(Floats sums, Bits of, Bits value) {
#if defined(__AVX512BF16__)
    return _mm512_dpbf16_ps(sums, (__m512bh)of, (__m512bh)value);
#else
    sums += (Floats)(of & 0xffff0000u) * (Floats)(value & 0xffff0000u);
    return sums + (Floats)(of << 16) * (Floats)(value << 16);
#endif
  }
  [[gnu::always_inline]] static Floats end(const ConvWork&, long, Floats sums) { return sums; }
};

void pair_words(const float* in, long pixels, const ByteScale&, void* out) {
  for (long i = 0; i < pixels; ++i)
    store_pairs(static_cast<char*>(out) + i * (2 * kLanes), load(in + i * kLanes));
}

}  // namespace

extern const ConvKernel FACEBENCH_FOR_ISA(kPairKernel);
const ConvKernel FACEBENCH_FOR_ISA(kPairKernel) = {PairNumbers::per_word, conv<PairNumbers>,
                                                   pair_words};

}  // namespace facebench
