#include "facebench/timing/process_meter.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "facebench/timing/nvml.h"
#include "facebench/timing/proc.h"

namespace facebench {
namespace {

using Clock = std::chrono::steady_clock;

double ticks() { return static_cast<double>(::sysconf(_SC_CLK_TCK)); }

double thread_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

struct ProcessMeter::Watch {
  std::string folder;  // /proc/PID
  bool self = false;
  double interval = 0;
  int gpu = -1;
  Nvml nvml;

  std::vector<int> processors = allowed_processors();
  std::optional<ProcessorTimes> machine_before;
  double own_before = 0;
  Clock::time_point started;
  ProcessUse use;
  bool stopped = false;

  std::mutex mutex;
  std::condition_variable wake;
  bool end = false;
  double memory_sum = 0, gpu_sum = 0;
  std::int64_t gpu_samples = 0;
  std::thread thread;

  std::int64_t size(std::string_view key) const {
    return parse_memory_size(read_proc(folder + "/status"), key).value_or(0);
  }
  std::optional<ProcessorTimes> machine() const {
    return parse_processor_times(read_proc("/proc/stat"), processors, ticks());
  }
  // Of the watched process and of this one, which watches for it.
  double own() const {
    const auto of = [](const std::string& path) {
      const auto times = parse_process_times(read_proc(path), ticks());
      return times ? times->user + times->system : 0;
    };
    return of(folder + "/stat") + (self ? 0 : of("/proc/self/stat"));
  }

  void sample() {
    const std::int64_t memory = size("VmRSS");
    memory_sum += static_cast<double>(memory);
    use.memory_peak = std::max(use.memory_peak, memory);
    ++use.samples;
    if (gpu >= 0)
      if (const auto used = nvml.memory_used(gpu)) {
        gpu_sum += static_cast<double>(*used);
        use.gpu_memory_peak = std::max(use.gpu_memory_peak, *used);
        ++gpu_samples;
      }
  }

  void run() {
    const double before = thread_seconds();
    std::unique_lock lock(mutex);
    do {
      sample();
      wake.wait_for(lock, std::chrono::duration<double>(interval), [this] { return end; });
    } while (!end);
    use.watching_seconds = thread_seconds() - before;
  }
};

LoadShares load_shares(const ProcessorTimes& before, const ProcessorTimes& after,
                       double own_seconds) {
  const double busy = after.busy() - before.busy();
  const double all =
      busy + (after.idle - before.idle) + std::max(after.iowait - before.iowait, 0.0);
  if (!(all > 0)) return {};
  // The two are counted in ticks, at different moments.
  const double others = std::max(busy - own_seconds, 0.0) / all;
  return {(after.user - before.user) / all,
          (after.system - before.system) / all,
          std::max(after.iowait - before.iowait, 0.0) / all,
          own_seconds / all,
          others,
          others > kBusyShare};
}

ProcessMeter::ProcessMeter(int pid, double interval, int gpu) : watch_(std::make_unique<Watch>()) {
  if (!(interval > 0)) throw std::invalid_argument("ProcessMeter: the interval is above zero");
  Watch& w = *watch_;
  w.self = pid == 0 || pid == ::getpid();
  w.folder = w.self ? "/proc/self" : fmt::format("/proc/{}", pid);
  w.interval = interval;
  w.gpu = gpu;
  if (pid < 0 || read_proc(w.folder + "/stat").empty())
    throw std::invalid_argument(fmt::format("ProcessMeter: there is no process {}", pid));
  // The kernel's own peak starts again from here, where that is allowed.
  if (std::FILE* file = std::fopen((w.folder + "/clear_refs").c_str(), "w")) {
    std::fputs("5", file);
    std::fclose(file);
  }
  w.use.memory_before = w.size("VmRSS");
  w.machine_before = w.machine();
  w.own_before = w.own();
  w.started = Clock::now();
  w.thread = std::thread([&w] { w.run(); });
}

ProcessMeter::~ProcessMeter() { stop(); }

ProcessUse ProcessMeter::stop() {
  Watch& w = *watch_;
  if (w.stopped) return w.use;
  w.stopped = true;
  {
    const std::lock_guard lock(w.mutex);
    w.end = true;
  }
  w.wake.notify_all();
  w.thread.join();
  ProcessUse& use = w.use;
  use.seconds = std::chrono::duration<double>(Clock::now() - w.started).count();
  use.memory_now = w.size("VmRSS");
  use.memory_average = static_cast<std::int64_t>(w.memory_sum / static_cast<double>(use.samples));
  use.memory_peak = std::max(use.memory_peak, w.size("VmHWM"));
  if (w.gpu_samples > 0)
    use.gpu_memory_average =
        static_cast<std::int64_t>(w.gpu_sum / static_cast<double>(w.gpu_samples));
  const std::optional<ProcessorTimes> after = w.machine();
  if (after && w.machine_before)
    static_cast<LoadShares&>(use) =
        load_shares(*w.machine_before, *after, std::max(w.own() - w.own_before, 0.0));
  return use;
}

Json process_use_json(const ProcessUse& use) {
  const auto known = [](double value) { return std::isnan(value) ? Json() : Json(value); };
  return {
      {"seconds", use.seconds},
      {"memory",
       {{"before", use.memory_before},
        {"now", use.memory_now},
        {"average", use.memory_average},
        {"peak", use.memory_peak},
        {"samples", use.samples}}},
      {"gpu_memory", {{"average", use.gpu_memory_average}, {"peak", use.gpu_memory_peak}}},
      {"processors",
       {{"user", known(use.user)},
        {"system", known(use.system)},
        {"iowait", known(use.iowait)},
        {"own", known(use.own)},
        {"others", known(use.others)}}},
      {"busy", use.busy},
      {"watching_seconds", use.watching_seconds},
  };
}

}  // namespace facebench
