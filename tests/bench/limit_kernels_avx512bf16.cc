#ifdef __AVX512BF16__
#define FACEBENCH_LANES 16
#define FACEBENCH_LIMITS kLimitKernelsAvx512Bf16
#include "limit_kernels.inl"
#endif
