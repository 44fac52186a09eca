#define FACEBENCH_LANES 4
#define FACEBENCH_ROWS 4
#define FACEBENCH_HEAD kHeadKernelsPlain
#include "nn/head_kernels.inl"
