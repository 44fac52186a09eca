#pragma once

#include <string>
#include <vector>

#include "facebench/nn/head.h"
#include "facebench/training/communicator.h"

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
  // `share`: this micro-batch's part of the batch of all processes, by images; 1: all of it.
  void end_part(double share);
  // Collective.
  void end_step(Communicator& communicator);

  std::vector<NamedTensor> tensors() const;

 private:
  struct Entry {
    HeadBuffer buffer;
    at::Tensor before;  // its value when the step began, where it is needed
    at::Tensor mean;    // sum of the parts' values times their shares; undefined: no part yet
  };
  std::vector<Entry> entries_;
};

}  // namespace facebench
