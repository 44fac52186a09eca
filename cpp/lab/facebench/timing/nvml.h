#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace facebench {

// One GPU as NVIDIA's management library describes it; absent where it does not say.
struct GpuFacts {
  std::string name;
  std::optional<std::int64_t> memory_bytes;
  std::optional<int> sm_mhz, memory_mhz;          // now
  std::optional<int> max_sm_mhz, max_memory_mhz;  // at most
  std::optional<double> power_limit_watts;
  std::optional<bool> persistence;
};

// libnvidia-ml, loaded when it is there; without it (no NVIDIA driver) every answer is empty.
class Nvml {
 public:
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool available() const { return library_ != nullptr; }
  std::string driver() const;  // its version; empty: none
  std::vector<GpuFacts> gpus() const;
  // Bytes in use by everybody on one device.
  std::optional<std::int64_t> memory_used(int gpu) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace facebench
