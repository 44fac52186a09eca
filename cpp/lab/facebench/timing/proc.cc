#include "facebench/timing/proc.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <utility>

#include "facebench/io/text.h"

namespace facebench {
namespace {

// Calls f with each line, without its end.
template <class F>
void each_line(std::string_view text, F&& f) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    f(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> result;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t start = line.find_first_not_of(" \t", at);
    if (start == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t", start), line.size());
    result.push_back(line.substr(start, at - start));
  }
  return result;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "key : value" of cpuinfo.
std::optional<std::pair<std::string_view, std::string_view>> entry(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return std::pair(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
}

}  // namespace

std::optional<ProcessorTimes> parse_processor_times(std::string_view text,
                                                    std::span<const int> processors, double ticks) {
  ProcessorTimes sum;
  bool any_line = false;
  each_line(text, [&](std::string_view line) {
    if (!line.starts_with("cpu")) return;
    const std::vector<std::string_view> parts = words(line);
    const std::string_view digits = parts[0].substr(3);
    if (processors.empty() ? !digits.empty() : digits.empty()) return;
    if (!processors.empty()) {
      const std::optional<int> which = number<int>(digits);
      if (!which || std::find(processors.begin(), processors.end(), *which) == processors.end())
        return;
    }
    // user nice system idle iowait irq softirq steal; old kernels write fewer.
    double seconds[8] = {};
    if (parts.size() < 5) return;
    for (std::size_t i = 0; i < 8 && i + 1 < parts.size(); ++i) {
      const std::optional<std::uint64_t> value = number<std::uint64_t>(parts[i + 1]);
      if (!value) return;
      seconds[i] = static_cast<double>(*value) / ticks;
    }
    any_line = true;
    sum.user += seconds[0] + seconds[1];
    sum.system += seconds[2];
    sum.idle += seconds[3];
    sum.iowait += seconds[4];
    sum.interrupts += seconds[5] + seconds[6];
    sum.stolen += seconds[7];
  });
  return any_line ? std::optional(sum) : std::nullopt;
}

std::optional<ProcessTimes> parse_process_times(std::string_view text, double ticks) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  // After the name: state is field 3, utime stime cutime cstime are 14 to 17.
  const std::vector<std::string_view> parts = words(trim(text.substr(name_end + 1)));
  if (parts.size() < 15) return std::nullopt;
  double seconds[4];
  for (std::size_t i = 0; i < 4; ++i) {
    const std::optional<std::int64_t> value = number<std::int64_t>(parts[11 + i]);
    if (!value || *value < 0) return std::nullopt;
    seconds[i] = static_cast<double>(*value) / ticks;
  }
  return ProcessTimes{seconds[0] + seconds[2], seconds[1] + seconds[3]};
}

std::optional<std::int64_t> parse_memory_size(std::string_view text, std::string_view key) {
  std::optional<std::int64_t> result;
  each_line(text, [&](std::string_view line) {
    if (result || !line.starts_with(key) || line.substr(key.size(), 1) != ":") return;
    const std::vector<std::string_view> parts = words(line.substr(key.size() + 1));
    if (parts.size() != 2 || parts[1] != "kB") return;
    const std::optional<std::int64_t> kib = number<std::int64_t>(parts[0]);
    if (kib && *kib >= 0 && *kib < (std::int64_t{1} << 52)) result = *kib * 1024;
  });
  return result;
}

CpuFacts parse_cpuinfo(std::string_view text) {
  CpuFacts facts;
  std::set<std::string> sockets;
  std::set<std::pair<std::string, std::string>> cores;
  std::string socket, core;
  const auto end_processor = [&] {
    if (!socket.empty()) sockets.insert(socket);
    if (!core.empty()) cores.emplace(socket, core);
    socket.clear();
    core.clear();
  };
  each_line(text, [&](std::string_view line) {
    const auto pair = entry(line);
    if (!pair) return;
    const auto [key, value] = *pair;
    if (key == "processor") {
      end_processor();
      ++facts.processors;
    } else if (key == "model name" && facts.model.empty()) {
      facts.model = std::string(value.substr(0, 200));
    } else if (key == "physical id") {
      socket = std::string(value);
    } else if (key == "core id") {
      core = std::string(value);
    } else if (key == "cpu MHz") {
      const std::optional<double> mhz = number<double>(value);
      if (mhz && std::isfinite(*mhz) && *mhz > 0) facts.mhz.push_back(*mhz);
    }
  });
  end_processor();
  facts.sockets = static_cast<int>(sockets.size());
  facts.cores = static_cast<int>(cores.size());
  return facts;
}

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> result;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return result;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) result.push_back(i);
  return result;
}

std::string read_proc(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(1 << 20, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

}  // namespace facebench
