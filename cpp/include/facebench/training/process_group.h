#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "facebench/training/communicator.h"

namespace facebench {

// Processes that speak through one of torch's process groups (Gloo, NCCL), made by whoever started
// them, as torchrun does. Tensors travel on `device`, the one that is trained on, in flat buckets
// of at most 25 MB, one call of the group each, several on their way at once.
std::unique_ptr<Communicator> process_group_communicator(
    c10::intrusive_ptr<c10d::ProcessGroup> group, at::Device device);

}  // namespace facebench
