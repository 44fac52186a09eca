#pragma once

// For functions that run on the processor and in CUDA kernels alike: the words that nvcc needs for
// that, and nothing for other compilers.
#ifdef __CUDACC__
#define FACEBENCH_HOST_DEVICE __host__ __device__
#else
#define FACEBENCH_HOST_DEVICE
#endif
