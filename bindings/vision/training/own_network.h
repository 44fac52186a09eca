#pragma once

#include "facebench/training/trainer.h"
#include "training/python_error.h"

namespace facebench {

// A network of the user's (facebench.training._own_network.OwnNetwork) as the trainer takes it.
// Both must outlive the training.
OwnNetwork own_network(pybind11::handle network, PythonError& raised);

// What Python is given of a model in training: a Model, or the embedder of a network of the user's.
// It refers to `model`. Called under the GIL.
pybind11::object python_model(const TrainedModel& model);

}  // namespace facebench
