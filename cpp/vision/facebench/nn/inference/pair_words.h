#pragma once

// Words of two bfloat16; for the kernels of inference alone.

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "facebench/nn/inference/block_vectors.h"

namespace facebench {
namespace {

// The numbers of a block as bfloat16, rounded to nearest, ties to even. As the processor's own
// instruction has it, a denormal number becomes zero and a NaN stays one.
[[gnu::always_inline]] inline void store_pairs(void* p, Floats v) {
#if defined(__AVX512BF16__)
  _mm256_storeu_si256((__m256i*)p, (__m256i)_mm512_cvtneps_pbh(v));
#else
  const Bits bits = (Bits)v;
  Bits nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  nearest = (bits & 0x7f800000u) == 0 ? bits >> 16 & 0x8000u : nearest;
  nearest = v != v ? bits >> 16 | 0x40u : nearest;
#if defined(__AVX512F__)
  _mm256_storeu_si256((__m256i*)p, _mm512_maskz_cvtepi32_epi16(0xffff, (__m512i)nearest));
#else
  store<Halves>(p, __builtin_convertvector(nearest, Halves));
#endif
#endif
}

}  // namespace
}  // namespace facebench
