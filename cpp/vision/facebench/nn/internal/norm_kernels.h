#pragma once

// Batch norm with what follows it, and max-feature-map, on values that are laid out NHWC: rows of
// `channels` values, one for each pixel; channels is a multiple of 16. Included by files that are
// compiled for several instruction sets, so it includes nothing (head_kernels.h says why).

namespace facebench {

// With t = scale x + offset (+ residual) the value is y = t where t > 0, else slope t. Arrays
// without a row index hold a value for each channel. x, y, residual and their gradients are float32
// or bfloat16 alike; arithmetic is float32.
struct NormKernels {
  // sum += x - shift, squares += (x - shift)^2, over the rows.
  void (*moments)(const void* x, long rows, long channels, const float* shift, float* sum,
                  float* squares);
  // residual may be null.
  void (*forward)(const void* x, const void* residual, long rows, long channels, const float* scale,
                  const float* offset, const float* slope, void* y);
  // With g = dy where t > 0, else slope dy: sum += g, along += g (x - mean), by_slope += dy t where
  // t <= 0. The sign of t is y's where y is not null (then slope >= 0, and by_slope stays).
  void (*sums)(const void* dy, const void* x, const void* y, long rows, long channels,
               const float* scale, const float* offset, const float* slope, const float* mean,
               float* sum, float* along, float* by_slope);
  // dx = a g + b (x - mean) + c, and g itself to `dresidual` where that is not null.
  void (*backward)(const void* dy, const void* x, const void* y, long rows, long channels,
                   const float* scale, const float* offset, const float* slope, const float* mean,
                   const float* a, const float* b, const float* c, void* dx, void* dresidual);
  // y, `channels` wide, is the larger of the halves of x; its gradient goes to the larger, half to
  // each of equals.
  void (*maxout)(const void* x, long rows, long channels, void* y);
  void (*maxout_backward)(const void* dy, const void* x, long rows, long channels, void* dx);
};

// Those of the instruction set in use (core/isa.h).
const NormKernels& norm_kernels(bool bfloat16);

// For float32, then for bfloat16.
extern const NormKernels kNormKernelsPlain[2];
extern const NormKernels kNormKernelsAvx2[2];  // where the compiler can make them
extern const NormKernels kNormKernelsAvx512[2];
extern const NormKernels kNormKernelsAvx512Bf16[2];

}  // namespace facebench
