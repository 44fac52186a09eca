#pragma once

#include <span>

#include "facebench/nn/communicator.h"
#include "facebench/nn/head.h"

namespace facebench {

// The gradient of each parameter becomes the sum over all processes; parameters without one, and
// those that are split, are left alone. Collective.
void sum_gradients(std::span<const PartialTensor> parameters, Communicator& communicator);

}  // namespace facebench
