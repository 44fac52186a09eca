#define FACEBENCH_LANES 4
#define FACEBENCH_LIMITS kLimitKernelsPlain
#include "limit_kernels.inl"
