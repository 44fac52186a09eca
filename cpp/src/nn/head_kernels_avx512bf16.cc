// Compiled with the instruction set of its name; empty where the processor family has none.
#ifdef __AVX512BF16__
#define FACEBENCH_LANES 16
#define FACEBENCH_ROWS 14
#define FACEBENCH_BFLOAT16
#define FACEBENCH_HEAD kHeadKernelsAvx512Bf16
#include "nn/head_kernels.inl"
#endif
