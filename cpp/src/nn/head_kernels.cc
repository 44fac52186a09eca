#include "nn/head_kernels.h"

#include "facebench/core/isa.h"

namespace facebench {

const HeadKernels& head_kernels([[maybe_unused]] bool bfloat16) {
#if defined(__x86_64__)
  const Isa isa = active_isa();
  if (isa >= Isa::avx512bf16 && bfloat16) return kHeadKernelsAvx512Bf16;
  if (isa >= Isa::avx512) return kHeadKernelsAvx512;
  if (isa >= Isa::avx2) return kHeadKernelsAvx2;
#endif
  return kHeadKernelsPlain;
}

}  // namespace facebench
