// Compiled with the instruction set of its name; empty where the processor family has none.
#ifdef __AVX512F__
#define FACEBENCH_LANES 16
#define FACEBENCH_ROWS 14
#define FACEBENCH_BLOCK 4
#define FACEBENCH_DOTS kDotKernelsAvx512
#define FACEBENCH_FILTER kFilterKernelsAvx512
#include "metrics/pair_kernels.inl"
#endif
