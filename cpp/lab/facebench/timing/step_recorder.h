#pragma once

#include <c10/core/Device.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "facebench/timing/iteration.h"

namespace facebench {

// Waits until the device has finished its work; returns at once on the CPU.
void synchronize_device(c10::Device device);

// Times the phases of a step: begin(), enter(phase) where each phase begins, end(). A phase that
// comes several times is summed up. On the CPU enter() is one look at the clock; on another device
// an event in its queue, so that nothing waits before end().
class StepRecorder {
 public:
  StepRecorder(c10::Device device, std::int64_t iterations);
  ~StepRecorder();
  StepRecorder(const StepRecorder&) = delete;
  StepRecorder& operator=(const StepRecorder&) = delete;

  void begin();
  void enter(StepPhase phase);
  void end();
  // All iterations so far.
  StepTimes times() const;

  // Seconds that recording one iteration of all phases takes, measured: the harness's overhead.
  static double cost(c10::Device device);

 private:
  struct Events;
  c10::Device device_;
  StepTimes times_;
  std::int64_t begun_ = 0;  // nanoseconds
  // Of the step that goes on: the phases entered, and on the CPU when.
  std::vector<StepPhase> entered_;
  std::vector<std::int64_t> at_;
  std::unique_ptr<Events> events_;  // null on the CPU
};

}  // namespace facebench
