#include "facebench/core/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "facebench/core/cuda_library.h"
#include "facebench/core/internal/devices_cuda.h"

namespace facebench {

CudaDevices cuda_devices() {
  std::string why;
  const auto query = reinterpret_cast<decltype(&facebench_cuda_devices)>(
      cuda_function("facebench_cuda_devices", why));
  if (query == nullptr) return {{}, why};
  std::array<facebench_cuda_device, 64> devices{};
  std::array<char, 512> reason{};
  const int count = query(devices.data(), static_cast<int>(devices.size()), reason.data(),
                          static_cast<int>(reason.size()));
  if (count <= 0)
    return {{},
            fmt::format("no NVIDIA card or driver that can be used was found ({}); nvidia-smi "
                        "shows cards and driver; without one leave the device out",
                        count < 0 ? reason.data() : "no CUDA device")};
  CudaDevices result;
  for (int i = 0; i < std::min(count, static_cast<int>(devices.size())); ++i)
    result.devices.push_back({i, devices[i].name, devices[i].memory_bytes, devices[i].compute_major,
                              devices[i].compute_minor});
  return result;
}

std::optional<int> parse_device(std::string_view name) {
  if (name == "cpu") return std::nullopt;
  int index = name == "cuda" ? 0 : -1;
  if (name.starts_with("cuda:")) {
    const char *first = name.data() + 5, *last = name.data() + name.size();
    const auto [end, error] = std::from_chars(first, last, index);
    if (error != std::errc() || end != last) index = -1;
  }
  if (index < 0)
    throw std::invalid_argument(
        fmt::format("unknown device '{}' (known: cpu, cuda, cuda:N)", name));
  const CudaDevices cuda = cuda_devices();
  if (index >= static_cast<int>(cuda.devices.size()))
    throw std::invalid_argument(fmt::format(
        "no device '{}' on this machine: {}", name,
        cuda.reason.empty() ? fmt::format("there are {}", cuda.devices.size()) : cuda.reason));
  return index;
}

}  // namespace facebench
