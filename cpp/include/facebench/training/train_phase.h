#pragma once

#include <cstdint>
#include <functional>

namespace facebench {

// What a training step is doing; `forward` and `backward` come once for each micro-batch.
enum class TrainPhase : std::uint8_t {
  data,       // waiting for the batch, and moving it to the device
  forward,    // network and loss
  backward,   // gradients
  aggregate,  // gradients summed over the processes
  update,     // clipping, the optimizer's step, the weights' average
  done,       // the step has ended
};

// Told when a phase begins, on the thread that trains. On CUDA the work of the phase before may
// still be going on then: who measures synchronises.
using PhaseObserver = std::function<void(TrainPhase)>;

}  // namespace facebench
