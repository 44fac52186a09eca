#include "facebench/core/internal/kernel_choice.h"
#include "facebench/nn/inference/kernels.h"
#include "facebench/nn/internal/head_kernels.h"
#include "facebench/nn/internal/norm_kernels.h"

namespace facebench {

const HeadKernels& head_kernels(bool bfloat16) {
  return bfloat16 ? FACEBENCH_KERNELS_BF16(active_isa(), kHeadKernels)
                  : FACEBENCH_KERNELS(active_isa(), kHeadKernels);
}

const NormKernels& norm_kernels(bool bfloat16) {
  return FACEBENCH_KERNELS_BF16(active_isa(), kNormKernels)[bfloat16];
}

const InferenceKernels& inference_kernels() {
  return FACEBENCH_KERNELS_BF16(active_isa(), kInferenceKernels);
}

}  // namespace facebench
