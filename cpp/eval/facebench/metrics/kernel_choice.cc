#include "facebench/core/internal/kernel_choice.h"
#include "facebench/metrics/internal/dot_kernels.h"
#include "facebench/metrics/internal/filter_kernels.h"

namespace facebench {

const DotKernels& dot_kernels() { return FACEBENCH_KERNELS(active_isa(), kDotKernels); }

const FilterKernels& filter_kernels() {
  return FACEBENCH_KERNELS_BF16(active_isa(), kFilterKernels);
}

}  // namespace facebench
