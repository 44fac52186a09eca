// Compiled with the instruction set of its name; empty where the processor family has none.
#ifdef __AVX512BF16__
#define FACEBENCH_LANES 16
#define FACEBENCH_NORM kNormKernelsAvx512Bf16
#include "nn/norm_kernels.inl"
#endif
