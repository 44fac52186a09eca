// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "facebench/embedding/internal/pixel_kernels.h"

namespace facebench {
namespace {

constexpr int kPeriod = PixelKernels::period;

// The compiler makes vector instructions of these loops. A sum before the product cannot be fused
// with it, so every instruction set gives the same bits.
template <bool kDivide>
float scaled(unsigned char value, float mean, float factor) {
  const float centred = static_cast<float>(value) - mean;
  return kDivide ? centred / factor : centred * factor;
}

template <bool kDivide>
void scale(const unsigned char* __restrict in, long count, const float* __restrict mean,
           const float* __restrict factor, float* __restrict out) {
  long at = 0;
  for (; at + kPeriod <= count; at += kPeriod)
    for (int k = 0; k < kPeriod; ++k) out[at + k] = scaled<kDivide>(in[at + k], mean[k], factor[k]);
  for (int k = 0; at < count; ++at, ++k) out[at] = scaled<kDivide>(in[at], mean[k], factor[k]);
}

void separate(const unsigned char* __restrict in, long count, long stride,
              unsigned char* __restrict out) {
  unsigned char *first = out, *second = out + stride, *third = out + 2 * stride;
  for (long i = 0; i < count; ++i) {
    first[i] = in[3 * i];
    second[i] = in[3 * i + 1];
    third[i] = in[3 * i + 2];
  }
}

}  // namespace

extern const PixelKernels FACEBENCH_FOR_ISA(kPixelKernels);
const PixelKernels FACEBENCH_FOR_ISA(kPixelKernels){scale<false>, scale<true>, separate};

}  // namespace facebench
