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

Json device_facts(c10::Device device) {
  if (!device.is_cuda()) return nullptr;
  const auto index = static_cast<std::size_t>(device.index());
  return {{"name", cuda_devices().devices.at(index).name},
          {"cudnn", at::detail::getCUDAHooks().versionCuDNN()}};
}

}  // namespace facebench
