// Compiled with the instruction set of its name; empty where the processor family has none.
#ifdef __AVX2__
#define FACEBENCH_LANES 8
#define FACEBENCH_ROWS 6
#define FACEBENCH_HEAD kHeadKernelsAvx2
#include "nn/head_kernels.inl"
#endif
