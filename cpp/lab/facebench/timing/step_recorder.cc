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

// Made once, one for each border of phases, and recorded again in every step.
struct StepRecorder::Events {
  explicit Events(c10::Device device)
      : type(device.type()), stream(c10::impl::VirtualGuardImpl(type).getStream(device)) {}
  void record(std::size_t border) {
    if (border == all.size()) all.emplace_back(type, c10::EventFlag::BACKEND_DEFAULT);
    all[border].record(stream);
  }
  c10::DeviceType type;
  c10::Stream stream;
  std::vector<c10::Event> all;
};

StepRecorder::StepRecorder(c10::Device device, std::int64_t iterations) : device_(device) {
  times_.iteration.reserve(static_cast<std::size_t>(iterations));
  for (std::vector<double>& phase : times_.phases)
    phase.reserve(static_cast<std::size_t>(iterations));
  entered_.reserve(4 * kStepPhases);
  at_.reserve(4 * kStepPhases);
  if (!device.is_cpu()) events_ = std::make_unique<Events>(device);
}

StepRecorder::~StepRecorder() = default;

void StepRecorder::begin() {
  entered_.clear();
  at_.clear();
  synchronize_device(device_);
  begun_ = now();
}

void StepRecorder::enter(StepPhase phase) {
  if (events_)
    events_->record(entered_.size());
  else
    at_.push_back(now());
  entered_.push_back(phase);
}

void StepRecorder::end() {
  if (entered_.empty() || entered_.back() != StepPhase::done) enter(StepPhase::done);
  synchronize_device(device_);
  times_.iteration.push_back(1e-9 * static_cast<double>(now() - begun_));
  std::array<double, kStepPhases> seconds{};
  std::array<bool, kStepPhases> occurred{};
  for (std::size_t i = 0; i + 1 < entered_.size(); ++i) {
    if (entered_[i] == StepPhase::done) continue;
    const auto p = static_cast<std::size_t>(entered_[i]);
    seconds[p] += events_ ? 1e-3 * events_->all[i].elapsedTime(events_->all[i + 1])
                          : 1e-9 * static_cast<double>(at_[i + 1] - at_[i]);
    occurred[p] = true;
  }
  for (std::size_t p = 0; p < kStepPhases; ++p)
    if (occurred[p]) times_.phases[p].push_back(seconds[p]);
}

StepTimes StepRecorder::times() const { return times_; }

double StepRecorder::cost(c10::Device device) {
  constexpr std::int64_t kTimes = 2000;
  StepRecorder recorder(device, kTimes);
  const std::int64_t start = now();
  for (std::int64_t i = 0; i < kTimes; ++i) {
    recorder.begin();
    for (std::size_t p = 0; p < kStepPhases; ++p) recorder.enter(static_cast<StepPhase>(p));
    recorder.end();
  }
  return 1e-9 * static_cast<double>(now() - start) / kTimes;
}

}  // namespace facebench
