#pragma once

// For functions that run on the processor and in CUDA kernels alike.
#ifdef __CUDACC__
#define FACEBENCH_HOST_DEVICE __host__ __device__
#else
#define FACEBENCH_HOST_DEVICE
#endif
