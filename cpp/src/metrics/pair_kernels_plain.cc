// For every processor; on x86-64 the compiler makes SSE2 of it.
#define FACEBENCH_LANES 4
#define FACEBENCH_ROWS 4
#define FACEBENCH_BLOCK 1
#define FACEBENCH_DOTS kDotKernelsPlain
#define FACEBENCH_FILTER kFilterKernelsPlain
#include "metrics/pair_kernels.inl"
