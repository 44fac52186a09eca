#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "facebench/nn/communicator.h"

namespace facebench {

// A communicator over one of torch's process groups (Gloo, NCCL), which the caller creates, for
// example under torchrun. Tensors travel on `device`, the one that is trained on, in flat buckets
// of at most 25 MB, one call of the group each, several on their way at once.
std::unique_ptr<Communicator> process_group_communicator(
    c10::intrusive_ptr<c10d::ProcessGroup> group, at::Device device);

}  // namespace facebench
