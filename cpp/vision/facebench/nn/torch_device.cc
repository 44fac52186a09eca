#include "facebench/nn/torch_device.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "facebench/core/devices.h"

namespace facebench {

c10::Device torch_device(std::string_view name) {
  if (name == "auto")
    return torch_device(at::hasCUDA() && !cuda_devices().devices.empty() ? "cuda" : "cpu");
  const std::optional<int> index = parse_device(name);
  if (!index) return c10::Device(c10::kCPU);
  if (!at::hasCUDA())
    throw std::invalid_argument(
        fmt::format("device '{}': this torch was built without CUDA", name));
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(*index));
}

}  // namespace facebench
