#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace facebench {

// One CUDA device, in the order in which CUDA numbers them ("cuda:0", "cuda:1", ...).
struct CudaDevice {
  int index = 0;
  std::string name;
  std::int64_t memory_bytes = 0;
  // Compute capability, e.g. 9 and 0.
  int compute_major = 0;
  int compute_minor = 0;
};

struct CudaDevices {
  std::vector<CudaDevice> devices;
  // Why there are none; empty where there are some.
  std::string reason;
};

// Asks libfacebench_cuda, which is loaded on the first call from the folder of this library. A
// missing library, driver or device is not an error: `reason` says what is missing.
CudaDevices cuda_devices();

// What "cpu", "cuda" (the first) or "cuda:N" means: the number of the CUDA device; nothing for the
// processor. Throws std::invalid_argument for another word, and for a device that this machine does
// not have, with the reason.
std::optional<int> parse_device(std::string_view name);

}  // namespace facebench
