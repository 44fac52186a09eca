#include "facebench/training/internal/head_buffers.h"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "facebench/nn/internal/aten.h"

namespace facebench {

void HeadBuffers::add(const Head& head, const std::string& prefix) {
  for (HeadBuffer b : head.buffers()) {
    b.name = prefix + b.name;
    entries_.push_back({std::move(b), head.takes_whole_batch(), {}, {}});
  }
}

void HeadBuffers::begin_step(int processes) {
  for (Entry& e : entries_) {
    e.mean = at::Tensor();
    // The micro-batches of one process move a sum in place.
    if ((processes > 1 && !e.whole) || e.buffer.reduction != BufferReduction::sum)
      e.before = e.buffer.tensor.detach().clone();
  }
}

void HeadBuffers::begin_part() {
  const at::NoGradGuard no_grad;
  for (Entry& e : entries_)
    if (e.buffer.reduction != BufferReduction::sum) e.buffer.tensor.copy_(e.before);
}

void HeadBuffers::end_part(double own, double whole) {
  const at::NoGradGuard no_grad;
  for (Entry& e : entries_) {
    const double share = e.whole ? whole : own;
    if (e.buffer.reduction != BufferReduction::mean || share == 1) continue;
    const at::Tensor value = e.buffer.tensor * share;
    e.mean = e.mean.defined() ? e.mean + value : value;
  }
}

void HeadBuffers::end_step(Communicator& communicator) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> summed, from_first;
  for (Entry& e : entries_) {
    if (e.whole) {
      if (e.mean.defined()) e.buffer.tensor.copy_(e.mean);
      continue;
    }
    if (e.buffer.reduction == BufferReduction::broadcast)
      from_first.push_back(e.buffer.tensor);
    else if (e.buffer.reduction == BufferReduction::mean && e.mean.defined())
      summed.push_back(e.mean);
    else if (e.buffer.reduction == BufferReduction::sum && communicator.size() > 1)
      summed.push_back(e.buffer.tensor - e.before);
  }
  if (communicator.size() > 1) {
    if (!summed.empty()) communicator.all_reduce(summed);
    if (!from_first.empty()) communicator.broadcast(from_first, 0);
  }
  auto next = summed.begin();
  for (Entry& e : entries_) {
    if (e.whole) continue;
    if (e.buffer.reduction == BufferReduction::mean && e.mean.defined())
      e.buffer.tensor.copy_(*next++);
    else if (e.buffer.reduction == BufferReduction::sum && communicator.size() > 1)
      e.buffer.tensor.copy_(e.before + *next++);
  }
}

std::vector<PartialTensor> HeadBuffers::tensors() const {
  std::vector<PartialTensor> result;
  for (const Entry& e : entries_) result.push_back(e.buffer);
  return result;
}

}  // namespace facebench
