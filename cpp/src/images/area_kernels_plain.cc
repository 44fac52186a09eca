#define FACEBENCH_LANES 4
#define FACEBENCH_KERNELS kAreaKernelsPlain
#include "images/area_kernels.inl"
