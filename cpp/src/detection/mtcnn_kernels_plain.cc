#define FACEBENCH_LANES 4
#define FACEBENCH_KERNELS kMtcnnKernelsPlain
#include "detection/mtcnn_kernels.inl"
