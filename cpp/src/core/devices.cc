#include "facebench/core/devices.h"

#include <algorithm>
#include <array>

#include "core/cuda_library.h"
#include "core/devices_cuda.h"

namespace facebench {

CudaDevices cuda_devices() {
  std::string why;
  const auto query = reinterpret_cast<decltype(&facebench_cuda_devices)>(
      cuda_function("facebench_cuda_devices", why));
  if (query == nullptr) return {{}, why};
  std::array<facebench_cuda_device, 64> found{};
  std::array<char, 512> reason{};
  const int count = query(found.data(), static_cast<int>(found.size()), reason.data(),
                          static_cast<int>(reason.size()));
  if (count <= 0) return {{}, count < 0 ? std::string(reason.data()) : "no CUDA device"};
  CudaDevices result;
  for (int i = 0; i < std::min(count, static_cast<int>(found.size())); ++i)
    result.devices.push_back(
        {i, found[i].name, found[i].memory_bytes, found[i].compute_major, found[i].compute_minor});
  return result;
}

}  // namespace facebench
