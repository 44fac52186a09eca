// Compiled with the instruction set of its name; empty where the processor family has none.
#ifdef __AVX2__
#define FACEBENCH_LANES 8
#define FACEBENCH_KERNELS kAreaKernelsAvx2
#include "images/area_kernels.inl"
#endif
