#include "facebench/timing/machine.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "facebench/core/devices.h"
#include "facebench/core/isa.h"
#include "facebench/core/job.h"
#include "facebench/core/utf8.h"
#include "facebench/io/text.h"
#include "facebench/timing/nvml.h"
#include "facebench/timing/proc.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& path) {
  const std::string text = read_proc(path.string());
  return std::string(trim(std::string_view(text).substr(0, text.find('\n'))));
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// "32K", "1M", "512".
std::optional<std::int64_t> size_of(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const int shift = text.back() == 'K' ? 10 : text.back() == 'M' ? 20 : text.back() == 'G' ? 30 : 0;
  if (shift) text.remove_suffix(1);
  const auto value = whole(text);
  if (!value || *value > (std::int64_t{1} << 30)) return std::nullopt;
  return *value << shift;
}

// How many processors a list as "0-3,8" names; 0 where it is not a list.
int listed(std::string_view text) {
  std::int64_t n = 0;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = whole(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last > 1'000'000) return 0;
    n += *last - *first + 1;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return static_cast<int>(std::min<std::int64_t>(n, 1'000'000));
}

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json positive(std::int64_t value) { return value > 0 ? Json(value) : Json(); }
// Text that JSON can hold.
Json text_or_null(const std::string& text) {
  return text.empty() || !is_utf8(text) ? Json() : Json(printable(text));
}

Json cpu_facts() {
  const CpuFacts cpu = parse_cpuinfo(read_proc("/proc/cpuinfo"));
  const fs::path folder = "/sys/devices/system/cpu/cpu0";
  Json caches = Json::array();
  for (const CacheFacts& c : read_caches(folder / "cache"))
    caches.push_back({{"level", c.level},
                      {"type", text_or_null(c.type)},
                      {"bytes", c.bytes},
                      {"shared_by", positive(c.shared_by)}});
  const auto khz = whole(line_of(folder / "cpufreq/cpuinfo_max_freq"));
  Json mhz;
  if (!cpu.mhz.empty()) {
    const auto [low, high] = std::minmax_element(cpu.mhz.begin(), cpu.mhz.end());
    mhz = Json::array({*low, *high});
  }
  return {{"model", text_or_null(cpu.model)},
          {"sockets", positive(cpu.sockets)},
          {"cores", positive(cpu.cores)},
          {"processors", positive(cpu.processors)},
          {"allowed", available_processors()},
          {"mhz", mhz},
          {"max_mhz", khz ? Json(static_cast<double>(*khz) / 1000) : Json()},
          {"governor", text_or_null(line_of(folder / "cpufreq/scaling_governor"))},
          {"caches", caches}};
}

Json gpu_facts() {
  const Nvml nvml;
  Json devices = Json::array();
  for (const GpuFacts& g : nvml.gpus())
    devices.push_back({{"name", text_or_null(g.name)},
                       {"memory_bytes", optional_json(g.memory_bytes)},
                       {"sm_mhz", optional_json(g.sm_mhz)},
                       {"memory_mhz", optional_json(g.memory_mhz)},
                       {"max_sm_mhz", optional_json(g.max_sm_mhz)},
                       {"max_memory_mhz", optional_json(g.max_memory_mhz)},
                       {"power_limit_watts", optional_json(g.power_limit_watts)},
                       {"persistence", optional_json(g.persistence)}});
  if (devices.empty())
    for (const CudaDevice& d : cuda_devices().devices)
      devices.push_back({{"name", d.name}, {"memory_bytes", d.memory_bytes}});
  return {{"driver", text_or_null(nvml.driver())}, {"devices", devices}};
}

}  // namespace

std::vector<CacheFacts> read_caches(const fs::path& folder) {
  std::vector<CacheFacts> result;
  for (int i = 0; i < 16; ++i) {
    const fs::path index = folder / ("index" + std::to_string(i));
    const auto level = whole(line_of(index / "level"));
    const auto bytes = size_of(line_of(index / "size"));
    if (!level || *level < 1 || *level > 9 || !bytes) continue;
    result.push_back({static_cast<int>(*level), line_of(index / "type").substr(0, 40), *bytes,
                      listed(line_of(index / "shared_cpu_list"))});
  }
  return result;
}

Json machine_facts() {
  const auto memory = parse_memory_size(read_proc("/proc/meminfo"), "MemTotal");
  return {{"cpu", cpu_facts()},
          {"memory_bytes", memory ? Json(*memory) : Json()},
          {"isa", isa_name(active_isa())},
          {"gpu", gpu_facts()}};
}

}  // namespace facebench
