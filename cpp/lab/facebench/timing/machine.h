#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "facebench/io/json.h"

namespace facebench {

// One level of a processor's cache.
struct CacheFacts {
  int level = 0;
  std::string type;  // "Data", "Instruction", "Unified"
  std::int64_t bytes = 0;
  int shared_by = 0;  // processors; 0: not said
};
// From a folder as /sys/devices/system/cpu/cpu0/cache; what cannot be read is left out.
std::vector<CacheFacts> read_caches(const std::filesystem::path& folder);

// The machine, for a manifest: "cpu" {model, sockets, cores, processors, allowed, mhz [low, high],
// max_mhz, governor, caches}, "memory_bytes", "isa", "gpu" {driver, devices}. What the system does
// not say, or says in no readable text, is null.
Json machine_facts();

}  // namespace facebench
