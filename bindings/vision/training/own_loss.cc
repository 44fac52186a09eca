#include "training/own_loss.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/full_like.h>
#include <torch/csrc/utils/pybind.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "json.h"

namespace facebench {
namespace {

// A head whose parameters, buffers and formula are those of a Python object.
class PythonHead : public Head {
 public:
  PythonHead(const HeadShape& shape, py::handle loss, PythonError& raised)
      : Head({"own", Json::object(), shape}), loss_(loss), raised_(raised) {
    refuse_split("a loss in Python knows nothing of it");
    if (shape.processes && shape.processes->size() > 1)
      throw std::invalid_argument("a loss in Python trains in one process");
    const py::gil_scoped_acquire gil;
    in_python(raised_, [&] {
      loss_.attr("make")(shape.features, shape.classes, shape.seed, shape.dtype == at::kDouble);
      for (const auto& [name, value] : loss_.attr("parameters")().cast<py::dict>()) {
        const auto tensor = value.cast<at::Tensor>();
        // Its own tensor in place of the one that was drawn: an optimizer changes it in place.
        add_parameter(name.cast<std::string>(), tensor.sizes().vec(), "normal") = tensor;
      }
      for (const auto& [name, value] : loss_.attr("buffers")().cast<py::dict>()) {
        const auto tensor = value.cast<at::Tensor>();
        add_buffer(name.cast<std::string>(), tensor,
                   tensor.is_floating_point() ? BufferReduction::mean : BufferReduction::broadcast);
      }
    });
  }

 protected:
  Output compute(HeadInput& input) override {
    const py::gil_scoped_acquire gil;
    Output output;
    in_python(raised_, [&] {
      const py::tuple result = loss_(input.features(), input.labels(), training());
      output.loss = result[0].cast<at::Tensor>();
      if (!result[1].is_none()) output.logits = result[1].cast<at::Tensor>();
    });
    output.predicted =
        output.logits.defined() ? output.logits.argmax(1) : at::full_like(input.labels(), -1);
    return output;
  }

 private:
  py::handle loss_;
  PythonError& raised_;
};

}  // namespace

OwnLoss own_loss(py::handle loss, PythonError& raised) {
  return {json_from_python(loss.attr("description")()), [loss, &raised](const HeadShape& shape) {
            return std::make_unique<PythonHead>(shape, loss, raised);
          }};
}

}  // namespace facebench
