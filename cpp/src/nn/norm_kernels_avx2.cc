// Compiled with the instruction set of its name; empty where the processor family has none.
#ifdef __AVX2__
#define FACEBENCH_LANES 8
#define FACEBENCH_NORM kNormKernelsAvx2
#include "nn/norm_kernels.inl"
#endif
