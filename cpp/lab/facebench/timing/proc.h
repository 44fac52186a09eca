#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace facebench {

// Readers of what Linux says in /proc. The texts come from outside (containers and other kernels
// write them differently, or not at all), so what is not there or makes no sense is simply absent.

// Processor time since the machine started, in seconds, summed over some processors.
struct ProcessorTimes {
  double user = 0;  // niced too
  double system = 0;
  double iowait = 0;
  double idle = 0;
  double interrupts = 0;
  double stolen = 0;  // by other guests of the same host
  // Time in which the processor was busy.
  double busy() const { return user + system + interrupts + stolen; }
};

// /proc/stat. `processors`: the numbers of those that count; empty: all. `ticks` a second.
std::optional<ProcessorTimes> parse_processor_times(std::string_view text,
                                                    std::span<const int> processors, double ticks);

struct ProcessTimes {
  double user = 0;
  double system = 0;
};
// /proc/PID/stat: of the process and the children it has waited for. The name in it may hold
// anything, brackets and line ends among it.
std::optional<ProcessTimes> parse_process_times(std::string_view text, double ticks);

// A size of /proc/PID/status or /proc/meminfo ("VmRSS", "VmHWM", "MemTotal"), bytes.
std::optional<std::int64_t> parse_memory_size(std::string_view text, std::string_view key);

// /proc/cpuinfo.
struct CpuFacts {
  std::string model;  // empty: not said
  int sockets = 0;    // 0: not said
  int cores = 0;      // physical ones, of all sockets
  int processors = 0;
  std::vector<double> mhz;  // of each processor at this moment
};
CpuFacts parse_cpuinfo(std::string_view text);

// The processors this process may run on.
std::vector<int> allowed_processors();
// A text file's first megabyte; empty where it cannot be read.
std::string read_proc(const std::string& path);

}  // namespace facebench
