#include "facebench/timing/step_recorder.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>

namespace facebench {
namespace {

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void synchronize_device(c10::Device device) {
  if (!device.is_cpu())
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

// Made once and recorded again in every iteration.
struct StepRecorder::Events {
  explicit Events(c10::Device device)
      : stream(c10::impl::VirtualGuardImpl(device.type()).getStream(device)) {
    for (std::size_t i = 0; i < kStepPhases + 1; ++i)
      all.emplace_back(device.type(), c10::EventFlag::BACKEND_DEFAULT);
  }
  c10::Stream stream;
  std::vector<c10::Event> all;  // the beginning, then one a phase
  std::array<bool, kStepPhases> marked{};
};

StepRecorder::StepRecorder(c10::Device device, std::int64_t iterations) : device_(device) {
  times_.iteration.reserve(static_cast<std::size_t>(iterations));
  for (std::vector<double>& phase : times_.phases)
    phase.reserve(static_cast<std::size_t>(iterations));
  if (!device.is_cpu()) events_ = std::make_unique<Events>(device);
}

StepRecorder::~StepRecorder() = default;

void StepRecorder::begin() {
  synchronize_device(device_);
  begun_ = last_ = now();
  if (!events_) return;
  events_->marked = {};
  events_->all[0].record(events_->stream);
}

void StepRecorder::mark(StepPhase phase) {
  const auto p = static_cast<std::size_t>(phase);
  if (events_) {
    events_->all[p + 1].record(events_->stream);
    events_->marked[p] = true;
    return;
  }
  const std::int64_t t = now();
  times_.phases[p].push_back(1e-9 * static_cast<double>(t - last_));
  last_ = t;
}

void StepRecorder::end() {
  synchronize_device(device_);
  times_.iteration.push_back(1e-9 * static_cast<double>(now() - begun_));
  if (!events_) return;
  std::size_t before = 0;
  for (std::size_t p = 0; p < kStepPhases; ++p)
    if (events_->marked[p]) {
      times_.phases[p].push_back(1e-3 * events_->all[before].elapsedTime(events_->all[p + 1]));
      before = p + 1;
    }
}

StepTimes StepRecorder::times() const { return times_; }

double StepRecorder::cost(c10::Device device) {
  constexpr std::int64_t kTimes = 2000;
  StepRecorder recorder(device, kTimes);
  const std::int64_t start = now();
  for (std::int64_t i = 0; i < kTimes; ++i) {
    recorder.begin();
    for (std::size_t p = 0; p < kStepPhases; ++p) recorder.mark(static_cast<StepPhase>(p));
    recorder.end();
  }
  return 1e-9 * static_cast<double>(now() - start) / kTimes;
}

}  // namespace facebench
