// Compiled with the instruction set of its name; empty where the processor family has none.
#ifdef __AVX2__
#define FACEBENCH_LANES 8
#define FACEBENCH_ROWS 6
#define FACEBENCH_BLOCK 2
#define FACEBENCH_DOTS kDotKernelsAvx2
#define FACEBENCH_FILTER kFilterKernelsAvx2
#include "metrics/pair_kernels.inl"
#endif
