#pragma once

#include "facebench/training/trainer.h"
#include "training/python_error.h"

namespace facebench {

// A loss of the user's (facebench.training._own_loss.OwnLoss) as the trainer takes it. Both must
// outlive the training.
OwnLoss own_loss(pybind11::handle loss, PythonError& raised);

}  // namespace facebench
