// Compiled with the instruction set of its name; empty where the processor family has none.
#ifdef __AVX2__
#define FACEBENCH_LANES 8
#define FACEBENCH_KERNELS kMtcnnKernelsAvx2
#include "detection/mtcnn_kernels.inl"
#endif
