#include <cuda_runtime.h>

#include <cstdio>

#include "facebench/core/internal/devices_cuda.h"

namespace {

int refuse(cudaError_t error, char* reason, int reason_size) {
  std::snprintf(reason, reason_size, "%s", cudaGetErrorString(error));
  cudaGetLastError();  // clears the error, so that the next call does not see it
  return -1;
}

}  // namespace

int facebench_cuda_devices(facebench_cuda_device* devices, int capacity, char* reason,
                           int reason_size) {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess)
    return refuse(error, reason, reason_size);
  for (int i = 0; i < count && i < capacity; ++i) {
    cudaDeviceProp properties;
    if (const cudaError_t error = cudaGetDeviceProperties(&properties, i); error != cudaSuccess)
      return refuse(error, reason, reason_size);
    std::snprintf(devices[i].name, sizeof devices[i].name, "%s", properties.name);
    devices[i].memory_bytes = static_cast<long long>(properties.totalGlobalMem);
    devices[i].compute_major = properties.major;
    devices[i].compute_minor = properties.minor;
  }
  return count;
}
