#pragma once

#include <span>

#include "facebench/nn/network.h"
#include "facebench/training/communicator.h"

namespace facebench {

// The gradient of each parameter becomes the sum over all processes; parameters without one are
// left alone. Collective.
void sum_gradients(std::span<const NamedTensor> parameters, Communicator& communicator);

}  // namespace facebench
