// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "facebench/nn/inference/conv_tiles.h"

namespace facebench {
namespace {

// Sums of products of bytes, of the inputs without and of the weights with a sign. They are exact,
// so that their order does not matter. Four of a word are multiplied at once by AVX-512 VNNI alone:
// what AVX2 has adds pairs of products in 16 bits, which the largest ones exceed. Elsewhere a word
// is two bytes of 16 bits each.
struct ByteNumbers {
  using Words = Bits;
  using Sums = Ints;
#if defined(__AVX512VNNI__)
  static constexpr int per_word = 4;
#else
  static constexpr int per_word = 2;
#endif
  [[gnu::always_inline]] static Ints begin(const ConvWork& w, long c) {
    return load<Ints>(w.begin + c);
  }
  [[gnu::always_inline]] static Bits read(const float* p) { return read_word(p); }
  [[gnu::always_inline]] static Ints add(Ints sums, Bits of, Bits value) {
#if defined(__AVX512VNNI__)
    sums = (Ints)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)value, (__m512i)of);
#elif defined(__AVX512BW__)
    sums += (Ints)_mm512_madd_epi16((__m512i)value, (__m512i)of);
#elif defined(__AVX2__)
    sums += (Ints)_mm256_madd_epi16((__m256i)value, (__m256i)of);
#elif defined(__x86_64__)
    sums += (Ints)_mm_madd_epi16((__m128i)value, (__m128i)of);
#else
    sums += ((Ints)(of << 16) >> 16) * (Ints)(value & 0xffffu);
    sums += ((Ints)of >> 16) * (Ints)(value >> 16);
#endif
    // One after the other: the compiler would sum products that fit no register first.
    forget(sums);
    return sums;
  }
  [[gnu::always_inline]] static Floats end(const ConvWork& w, long c, Ints sums) {
    return __builtin_convertvector(sums, Floats) * load(w.scale + c) + load(w.bias + c);
  }
};

// The nearest whole number, ties to even, stands in the lowest bits of a float of this size.
constexpr float kWhole = 12582912;  // 1.5 * 2^23

void byte_words(const float* in, long pixels, const ByteScale& bytes, void* out) {
  for (long i = 0; i < pixels; ++i) {
    const Floats v =
        smaller(larger(load(in + i * kLanes) * bytes.scale + bytes.zero, hidden(0)), hidden(255));
    const Bits bits = (Bits)(v + kWhole) & 0xffu;
    auto* to = static_cast<char*>(out) + i * (4 * kLanes / ByteNumbers::per_word);
#if defined(__AVX512VNNI__)
    _mm_storeu_si128((__m128i*)to, _mm512_maskz_cvtepi32_epi8(0xffff, (__m512i)bits));
#elif defined(__AVX512F__)
    _mm256_storeu_si256((__m256i*)to, _mm512_maskz_cvtepi32_epi16(0xffff, (__m512i)bits));
#else
    store(to, __builtin_convertvector(bits, Halves));
#endif
  }
}

}  // namespace

extern const ConvKernel FACEBENCH_FOR_ISA(kByteKernel);
const ConvKernel FACEBENCH_FOR_ISA(kByteKernel) = {ByteNumbers::per_word, conv<ByteNumbers>,
                                                   byte_words};

}  // namespace facebench
