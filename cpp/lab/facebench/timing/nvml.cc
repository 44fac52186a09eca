#include "facebench/timing/nvml.h"

#include <dlfcn.h>

namespace facebench {
namespace {

// The few declarations of nvml.h that are needed; they have not changed since version 2 of the
// interface. Every function returns 0 for success.
using NvmlDevice = struct NvmlDeviceHandle*;
struct NvmlMemory {
  unsigned long long total, free, used;
};
enum NvmlClock : int { kSm = 1, kMemory = 2 };

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, NvmlDevice*) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*max_clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*power_limit)(NvmlDevice, unsigned*) = nullptr;
  int (*persistence)(NvmlDevice, int*) = nullptr;

  template <class F>
  bool find(F& function, const char* symbol) {
    function = reinterpret_cast<F>(::dlsym(handle, symbol));
    return function != nullptr;
  }
  bool load() {
    handle = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    return handle && find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
           find(driver_version, "nvmlSystemGetDriverVersion") &&
           find(count, "nvmlDeviceGetCount_v2") && find(device, "nvmlDeviceGetHandleByIndex_v2") &&
           find(name, "nvmlDeviceGetName") && find(memory, "nvmlDeviceGetMemoryInfo") &&
           find(clock, "nvmlDeviceGetClockInfo") && find(max_clock, "nvmlDeviceGetMaxClockInfo") &&
           find(power_limit, "nvmlDeviceGetPowerManagementLimit") &&
           find(persistence, "nvmlDeviceGetPersistenceMode") && init() == 0;
  }
  std::optional<int> megahertz(int (*ask)(NvmlDevice, int, unsigned*), NvmlDevice d,
                               int which) const {
    unsigned value = 0;
    return ask(d, which, &value) == 0 ? std::optional(static_cast<int>(value)) : std::nullopt;
  }
};

Nvml::Nvml() : library_(std::make_unique<Library>()) {
  if (library_->load()) return;
  if (library_->handle) ::dlclose(library_->handle);
  library_.reset();
}

Nvml::~Nvml() {
  if (!library_) return;
  library_->shutdown();
  ::dlclose(library_->handle);
}

std::string Nvml::driver() const {
  char text[96] = {};
  if (!library_ || library_->driver_version(text, sizeof text) != 0) return {};
  text[sizeof text - 1] = '\0';
  return text;
}

std::vector<GpuFacts> Nvml::gpus() const {
  std::vector<GpuFacts> result;
  unsigned n = 0;
  if (!library_ || library_->count(&n) != 0) return result;
  for (unsigned i = 0; i < n; ++i) {
    GpuFacts facts;
    NvmlDevice d = nullptr;
    if (library_->device(i, &d) != 0) continue;
    char name[96] = {};
    if (library_->name(d, name, sizeof name) == 0) {
      name[sizeof name - 1] = '\0';
      facts.name = name;
    }
    NvmlMemory memory{};
    if (library_->memory(d, &memory) == 0)
      facts.memory_bytes = static_cast<std::int64_t>(memory.total);
    facts.sm_mhz = library_->megahertz(library_->clock, d, kSm);
    facts.memory_mhz = library_->megahertz(library_->clock, d, kMemory);
    facts.max_sm_mhz = library_->megahertz(library_->max_clock, d, kSm);
    facts.max_memory_mhz = library_->megahertz(library_->max_clock, d, kMemory);
    unsigned milliwatts = 0;
    if (library_->power_limit(d, &milliwatts) == 0) facts.power_limit_watts = milliwatts / 1000.0;
    int on = 0;
    if (library_->persistence(d, &on) == 0) facts.persistence = on != 0;
    result.push_back(facts);
  }
  return result;
}

std::optional<std::int64_t> Nvml::memory_used(int gpu) const {
  NvmlDevice d = nullptr;
  NvmlMemory memory{};
  if (!library_ || gpu < 0 || library_->device(static_cast<unsigned>(gpu), &d) != 0 ||
      library_->memory(d, &memory) != 0)
    return std::nullopt;
  return static_cast<std::int64_t>(memory.used);
}

}  // namespace facebench
