#pragma once

#include <string>
#include <vector>

#include "facebench/nn/communicator.h"
#include "facebench/nn/head.h"

namespace facebench {

// The buffers of heads during a step: what each micro-batch and each process makes of them is put
// together as their BufferReduction says. For each step: begin_step, then begin_part and end_part
// for each micro-batch, then end_step.
class HeadBuffers {
 public:
  // The head's buffers, each name after `prefix`. Shared.
  void add(const Head& head, const std::string& prefix);

  // `processes`: how many share the batch.
  void begin_step(int processes);
  void begin_part();
  // Parts of the batch of all processes, by images; 1: all of it. `own`: this process's
  // micro-batch; `whole`: what a head took that takes the images of all processes.
  void end_part(double own, double whole);
  // Collective.
  void end_step(Communicator& communicator);

  std::vector<PartialTensor> tensors() const;

 private:
  struct Entry {
    HeadBuffer buffer;
    bool whole = false;  // of a head that takes the images of all: the same in each process
    at::Tensor before;   // its value when the step began, where it is needed
    at::Tensor mean;     // sum of the parts' values times their shares; undefined: no part yet
  };
  std::vector<Entry> entries_;
};

}  // namespace facebench
