#include "facebench/core/isa.h"
#include "facebench/metrics/internal/dot_kernels.h"
#include "facebench/metrics/internal/filter_kernels.h"

namespace facebench {

const DotKernels& dot_kernels() {
#if defined(__x86_64__)
  const Isa isa = active_isa();
  if (isa >= Isa::avx512) return kDotKernelsAvx512;
  if (isa >= Isa::avx2) return kDotKernelsAvx2;
#endif
  return kDotKernelsPlain;
}

const FilterKernels& filter_kernels() {
#if defined(__x86_64__)
  const Isa isa = active_isa();
  if (isa >= Isa::avx512bf16) return kFilterKernelsAvx512Bf16;
  if (isa >= Isa::avx512) return kFilterKernelsAvx512;
  if (isa >= Isa::avx2) return kFilterKernelsAvx2;
#endif
  return kFilterKernelsPlain;
}

}  // namespace facebench
