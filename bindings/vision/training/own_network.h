#pragma once

#include "facebench/training/trainer.h"
#include "training/python_error.h"

namespace facebench {

// A network of the user's (facebench.training._own_network.OwnNetwork) as the trainer takes it.
// Both must outlive the training.
OwnNetwork own_network(pybind11::handle network, PythonError& raised);

// What Python is given of a model in training, for the length of a call: a Model, or the embedder
// of a network of the user's. What Python keeps of a Model, and of its parts, is refused later like
// an object that was not constructed. Under the GIL.
class LentModel {
 public:
  explicit LentModel(const TrainedModel& model);
  ~LentModel();
  LentModel(const LentModel&) = delete;
  LentModel& operator=(const LentModel&) = delete;
  const pybind11::object& object() const { return object_; }

 private:
  const Model* ours_;
  pybind11::object object_;
};

}  // namespace facebench
