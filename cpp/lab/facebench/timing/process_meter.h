#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "facebench/io/json.h"

namespace facebench {

// Above this share of the processors taken by others a measurement is marked.
inline constexpr double kBusyShare = 0.05;

// Shares of the time of all processors that this program may use, as sysstat counts. NaN where the
// system does not say.
struct LoadShares {
  // The whole machine's.
  double user = std::numeric_limits<double>::quiet_NaN();
  double system = user, iowait = user;
  // Of the watched process (and the watching one), and of all others.
  double own = user, others = user;
  bool busy = false;  // others > kBusyShare: the figures are not those of an idle machine
};

// What a process used while it was watched. 0 where the system does not say.
struct ProcessUse : LoadShares {
  double seconds = 0;
  // Resident memory, bytes: sampled; the peak is the kernel's own (of the process's life where it
  // cannot be set back).
  std::int64_t memory_before = 0;
  std::int64_t memory_now = 0;
  std::int64_t memory_average = 0;
  std::int64_t memory_peak = 0;
  std::int64_t samples = 0;
  // Processor time of the watching thread itself.
  double watching_seconds = 0;
  // Memory in use on the GPU (all processes, by NVML): peak and average of the samples; 0 without.
  std::int64_t gpu_memory_peak = 0;
  std::int64_t gpu_memory_average = 0;
};
Json process_use_json(const ProcessUse& use);

// Watches a process, this one (pid 0) or another, on a thread of its own from construction to
// stop(). Looks every `interval` seconds; costs a few microseconds each time.
class ProcessMeter {
 public:
  // `gpu`: index of the device whose memory is sampled too, -1: none. Throws std::invalid_argument
  // where there is no such process or the interval is not above zero.
  explicit ProcessMeter(int pid = 0, double interval = 0.05, int gpu = -1);
  ~ProcessMeter();
  ProcessMeter(const ProcessMeter&) = delete;
  ProcessMeter& operator=(const ProcessMeter&) = delete;

  // Ends watching; a second call answers the same.
  ProcessUse stop();

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

// What was used between two readings of the processors and the processes: the part of stop() that
// is arithmetic. Times in seconds; `processors` share `elapsed`.
struct ProcessorTimes;
LoadShares load_shares(const ProcessorTimes& before, const ProcessorTimes& after,
                       double own_seconds);

}  // namespace facebench
