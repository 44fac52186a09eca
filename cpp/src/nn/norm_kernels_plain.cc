#define FACEBENCH_LANES 4
#define FACEBENCH_NORM kNormKernelsPlain
#include "nn/norm_kernels.inl"
