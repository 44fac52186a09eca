#ifdef __AVX512F__
#define FACEBENCH_LANES 16
#define FACEBENCH_LIMITS kLimitKernelsAvx512
#include "limit_kernels.inl"
#endif
