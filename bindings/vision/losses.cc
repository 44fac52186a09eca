#include <torch/csrc/utils/pybind.h>

#include "common.h"
#include "facebench/nn/communicator.h"
#include "facebench/nn/losses.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

// Of parameters or buffers.
template <class Tensors>
py::dict named_tensors(const Tensors& tensors) {
  return dict_by(tensors, &NamedTensor::name, &NamedTensor::tensor);
}

}  // namespace

void bind_losses(py::module_& m) {
  m.def(
      "losses",
      [] {
        const auto defaults = [](const LossEntry& e) {
          return dict_by(e.options->fields, &OptionField::name, &OptionField::default_value);
        };
        const auto fields = [](const LossEntry& e) { return options_fields(*e.options); };
        return table_list(losses(), "source", &LossEntry::source, "options", defaults, "fields",
                          fields);
      },
      "Every loss: name, doc, source, its options with their defaults, and as `fields` the\n"
      "description of each: name, type, default, doc, low, high, choices.");
  py::class_<Communicator>(m, "Communicator", "Processes that train together.")
      .def_property_readonly("rank", &Communicator::rank)
      .def_property_readonly("size", &Communicator::size);
  py::class_<Head>(m, "Head", "A loss and its parameters; see facebench.losses.make_head.")
      .def_property_readonly("name", &Head::name)
      .def_property_readonly("options", [](const Head& h) { return json_to_python(h.options()); })
      .def_property("training", &Head::training, &Head::train)
      .def("parameters", [](const Head& h) { return named_tensors(h.parameters()); })
      .def("buffers", [](const Head& h) { return named_tensors(h.buffers()); })
      .def_property_readonly("sampled_classes", &Head::sampled_classes)
      .def("set_buffer", &Head::set_buffer, py::arg("name"), py::arg("value"))
      .def(
          "loss",
          [](Head& h, const at::Tensor& features, const at::Tensor& labels) {
            const Head::Output output = h.loss(features, labels);
            return std::make_pair(output.loss, output.logits);
          },
          py::arg("features"), py::arg("labels"), py::call_guard<WithoutGil>());
  m.def(
      "make_head",
      [](const std::string& name, const py::dict& options, std::int64_t features,
         std::int64_t classes, std::uint64_t seed, bool float64, Communicator* processes,
         bool split_classes, double sample_rate) {
        return make_head(name, json_from_python(options),
                         {features, classes, seed, float64 ? at::kDouble : at::kFloat, processes,
                          split_classes, sample_rate});
      },
      py::arg("name"), py::arg("options"), py::arg("features"), py::arg("classes"), py::arg("seed"),
      py::arg("float64"), py::arg("processes"), py::arg("split_classes"), py::arg("sample_rate"),
      py::keep_alive<0, 7>());
}

}  // namespace facebench
