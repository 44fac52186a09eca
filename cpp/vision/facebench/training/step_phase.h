#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace facebench {

// The parts of a step, in their order (Wang & Guo 2019, section 4.3). `forward` and `backward` come
// once for each micro-batch, `aggregate` where several processes train together. Inference has data
// and forward alone.
enum class StepPhase : std::uint8_t {
  data,       // waiting for the batch, and moving it to the device
  forward,    // network and loss
  backward,   // gradients
  aggregate,  // gradients summed over the processes
  update,     // clipping, the optimizer's step, the weights' average
  done,       // no phase: the step has ended
};
inline constexpr std::size_t kStepPhases = 5;       // without `done`
std::string_view step_phase_name(StepPhase phase);  // "data", "forward", ...

// Told when a phase begins, on the thread that trains. On CUDA the work of the phase before may
// still be running: synchronise before you measure.
using PhaseObserver = std::function<void(StepPhase)>;

}  // namespace facebench
