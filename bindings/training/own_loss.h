#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "facebench/training/trainer.h"

namespace facebench {

// What Python raised, kept until the C++ call has ended.
struct PythonFailed : std::exception {};
using PythonError = std::optional<pybind11::error_already_set>;

// A loss of the user's (facebench._own_loss.OwnLoss) as the trainer takes it. What it raises goes
// into `raised`, and PythonFailed is thrown. Both must outlive the training.
OwnLoss own_loss(pybind11::handle loss, PythonError& raised);

}  // namespace facebench
