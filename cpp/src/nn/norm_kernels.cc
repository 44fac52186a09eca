#include "nn/norm_kernels.h"

#include "facebench/core/isa.h"

namespace facebench {

const NormKernels& norm_kernels(bool bfloat16) {
#if defined(__x86_64__)
  const Isa isa = active_isa();
  if (isa >= Isa::avx512bf16) return kNormKernelsAvx512Bf16[bfloat16];
  if (isa >= Isa::avx512) return kNormKernelsAvx512[bfloat16];
  if (isa >= Isa::avx2) return kNormKernelsAvx2[bfloat16];
#endif
  return kNormKernelsPlain[bfloat16];
}

}  // namespace facebench
