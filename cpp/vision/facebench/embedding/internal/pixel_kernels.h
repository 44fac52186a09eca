#pragma once

// The arithmetic of PixelInput. Included by files that are compiled for several instruction sets,
// so it includes no headers (images/area_kernels.h says why).

namespace facebench {

struct PixelKernels {
  // After so many values the means and factors begin again: a multiple of three channels and of
  // the lanes of every instruction set.
  static constexpr int period = 48;
  // out[i] = (in[i] - mean[i % period]) * factor[i % period], rounded after each step.
  using Scale = void (*)(const unsigned char* in, long count, const float* mean,
                         const float* factor, float* out);
  Scale multiply;
  // The same, divided by `factor`.
  Scale divide;
  // `count` pixels of three values become three rows, `stride` apart.
  void (*separate)(const unsigned char* in, long count, long stride, unsigned char* out);
};

extern const PixelKernels kPixelKernelsPlain;
extern const PixelKernels kPixelKernelsAvx2;  // where the compiler can make them
extern const PixelKernels kPixelKernelsAvx512;

}  // namespace facebench
