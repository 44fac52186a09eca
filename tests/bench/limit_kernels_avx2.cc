#ifdef __AVX2__
#define FACEBENCH_LANES 8
#define FACEBENCH_LIMITS kLimitKernelsAvx2
#include "limit_kernels.inl"
#endif
