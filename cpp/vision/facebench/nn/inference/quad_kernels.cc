// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "facebench/nn/inference/conv_tiles.h"

namespace facebench {
namespace {

// Sums of products of four bytes each, of the inputs without and of the weights with a sign. They
// are exact, so that their order does not matter.
struct QuadNumbers {
  using Words = Bits;
  using Sums = Ints;
  static constexpr int per_word = 4;
  [[gnu::always_inline]] static Ints begin(const ConvWork& w, long c) {
    return load<Ints>(w.begin + c);
  }
  [[gnu::always_inline]] static Bits read(const float* p) { return read_word(p); }
  [[gnu::always_inline]] static Ints add(Ints sums, Bits of, Bits value) {
#if defined(__AVX512VNNI__)
    return (Ints)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)value, (__m512i)of);
#else
    for (int shift = 0; shift < 32; shift += 8)
      sums += ((Ints)(of << (24 - shift)) >> 24) * (Ints)(value >> shift & 0xffu);
    return sums;
#endif
  }
  [[gnu::always_inline]] static Floats end(const ConvWork& w, long c, Ints sums) {
    return __builtin_convertvector(sums, Floats) * load(w.scale + c) + load(w.bias + c);
  }
};

// The nearest whole number, ties to even, stands in the lowest bits of a float of this size.
constexpr float kWhole = 12582912;  // 1.5 * 2^23

void quad_words(const float* in, long pixels, const ByteScale& bytes, void* out) {
  for (long i = 0; i < pixels; ++i) {
    Floats v = load(in + i * kLanes) * bytes.scale + bytes.zero;
    v = v < 0 ? Floats{} : v;
    v = v > 255 ? Floats{} + 255 : v;
    const Bits bits = (Bits)(v + kWhole) & 0xffu;
    auto* to = static_cast<char*>(out) + i * kLanes;
#if defined(__AVX512F__)
    _mm_storeu_si128((__m128i*)to, _mm512_maskz_cvtepi32_epi8(0xffff, (__m512i)bits));
#else
    store(to, __builtin_convertvector(bits, Bytes));
#endif
  }
}

}  // namespace

extern const ConvKernel FACEBENCH_FOR_ISA(kQuadKernel);
const ConvKernel FACEBENCH_FOR_ISA(kQuadKernel) = {conv<QuadNumbers>, quad_words};

}  // namespace facebench
