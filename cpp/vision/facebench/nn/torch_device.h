#pragma once

#include <c10/core/Device.h>

#include <string_view>

namespace facebench {

// The torch device that "cpu", "cuda" (the first), "cuda:N", or "auto" (a card where torch has one,
// else the processor) means. Throws std::invalid_argument as parse_device (core/devices.h) does,
// and where torch was built without CUDA.
c10::Device torch_device(std::string_view name);

}  // namespace facebench
