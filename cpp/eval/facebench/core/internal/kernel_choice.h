#pragma once

#include "facebench/core/isa.h"

// Of kernels that are compiled once for each instruction set (cpp/cmake/Kernels.cmake), say
// kDotKernelsPlain, kDotKernelsAvx2 and kDotKernelsAvx512, the best that `isa` includes:
//   FACEBENCH_KERNELS(isa, kDotKernels)
// FACEBENCH_KERNELS_BF16: there is a kFilterKernelsAvx512Bf16, too.

namespace facebench {

template <class Kernels>
const Kernels& choose_kernels(Isa isa, const Kernels& plain, const Kernels& avx2,
                              const Kernels& avx512, const Kernels& avx512bf16) {
  if (isa >= Isa::avx512bf16) return avx512bf16;
  if (isa >= Isa::avx512) return avx512;
  return isa >= Isa::avx2 ? avx2 : plain;
}

}  // namespace facebench

#if defined(__x86_64__)
#define FACEBENCH_KERNELS(isa, name) \
  ::facebench::choose_kernels(isa, name##Plain, name##Avx2, name##Avx512, name##Avx512)
#define FACEBENCH_KERNELS_BF16(isa, name) \
  ::facebench::choose_kernels(isa, name##Plain, name##Avx2, name##Avx512, name##Avx512Bf16)
#else
#define FACEBENCH_KERNELS(isa, name) (static_cast<void>(isa), name##Plain)
#define FACEBENCH_KERNELS_BF16(isa, name) FACEBENCH_KERNELS(isa, name)
#endif
