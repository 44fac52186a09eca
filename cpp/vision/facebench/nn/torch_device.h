#pragma once

#include <c10/core/Device.h>

#include <string_view>

#include "facebench/io/json.h"

namespace facebench {

// The torch device that "cpu", "cuda" (the first), "cuda:N", or "auto" (a card where torch has one,
// else the processor) means. Throws std::invalid_argument as parse_device (core/devices.h) does,
// and where torch was built without CUDA.
c10::Device torch_device(std::string_view name);

// What the bits depend on beside torch's version, for manifests: {name, cudnn} of a card, null for
// the processor.
Json device_facts(c10::Device device);

}  // namespace facebench
