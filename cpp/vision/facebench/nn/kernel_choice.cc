#include "facebench/core/isa.h"
#include "facebench/nn/inference/kernels.h"
#include "facebench/nn/internal/head_kernels.h"
#include "facebench/nn/internal/norm_kernels.h"

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

const NormKernels& norm_kernels(bool bfloat16) {
#if defined(__x86_64__)
  const Isa isa = active_isa();
  if (isa >= Isa::avx512bf16) return kNormKernelsAvx512Bf16[bfloat16];
  if (isa >= Isa::avx512) return kNormKernelsAvx512[bfloat16];
  if (isa >= Isa::avx2) return kNormKernelsAvx2[bfloat16];
#endif
  return kNormKernelsPlain[bfloat16];
}

const InferenceKernels& inference_kernels() {
#if defined(__x86_64__)
  const Isa isa = active_isa();
  if (isa >= Isa::avx512bf16) return kInferenceKernelsAvx512Bf16;
  if (isa >= Isa::avx512) return kInferenceKernelsAvx512;
  if (isa >= Isa::avx2) return kInferenceKernelsAvx2;
#endif
  return kInferenceKernelsPlain;
}

}  // namespace facebench
