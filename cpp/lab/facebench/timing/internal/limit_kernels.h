#pragma once

// Loops that do nothing but what their name says, as fast as the processor can: what other loops
// are measured against. Compiled for several instruction sets, so it includes nothing.

namespace facebench {

struct LimitKernels {
  // float32 multiply-adds, independent of each other; returns something that depends on all.
  // `fma_flops` operations (two a multiply-add) each of the n rounds.
  float (*fma)(long n);
  long fma_flops;
  // The same with pairs of bfloat16 products; null where there are no such instructions.
  float (*bf16)(long n);
  long bf16_flops;
  // Reads `bytes` (a multiple of 256) from an address that is a multiple of 64.
  int (*read)(const void* from, long bytes);
};

// Those of the instruction set in use (core/isa.h).
const LimitKernels& limit_kernels();

extern const LimitKernels kLimitKernelsPlain;
extern const LimitKernels kLimitKernelsAvx2;
extern const LimitKernels kLimitKernelsAvx512;
extern const LimitKernels kLimitKernelsAvx512Bf16;

}  // namespace facebench
