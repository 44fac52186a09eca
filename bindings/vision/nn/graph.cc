#include <torch/csrc/utils/pybind.h>

#include <map>
#include <variant>

#include "common.h"
#include "facebench/nn/graph_summary.h"
#include "facebench/nn/option_fields.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

py::object in_python(const Size2& s) { return py::make_tuple(s.height, s.width); }
py::object in_python(const Padding& p) { return py::make_tuple(p.top, p.left, p.bottom, p.right); }
py::object in_python(const auto& value) { return py::cast(value); }

py::dict options_dict(const NodeOptions& options) {
  py::dict d;
  std::visit(
      [&](auto o) {
        each_field(o, [&](const char* name, auto& value) { d[name] = in_python(value); });
      },
      options);
  return d;
}

}  // namespace

void bind_nn_graph(py::module_& m) {
  py::class_<Graph>(m, "Graph", "A network as data: layers, shapes, taps. Read-only.")
      .def_property_readonly("input_shape", &Graph::input_shape,
                             "[C, H, W] of one image, [T] of a sequence of words.")
      .def_property_readonly("vocabulary", &Graph::vocabulary,
                             "How many words there are, of a graph that reads words; 0: it reads "
                             "images.")
      .def_property_readonly(
          "taps",
          [](const Graph& g) {
            std::map<std::string, Shape> taps;
            for (const auto& [name, node] : g.taps()) taps[name] = g.shape({node});
            return taps;
          },
          "Name -> shape (without the batch) of every tapped value.")
      .def_property_readonly(
          "tensors",
          [](const Graph& g) {
            return dict_by(g.tensors(), &TensorSpec::name, &TensorSpec::shape);
          },
          "Name -> shape of every parameter and buffer, in the order of the layers.")
      .def_property_readonly(
          "nodes",
          [](const Graph& g) {
            py::list nodes;
            for (const Node& n : g.nodes()) {
              py::dict d;
              d["name"] = n.name;
              d["op"] = std::string(op_name(n.op));
              d["inputs"] = n.inputs;
              d["shape"] = n.shape;
              d["options"] = options_dict(n.options);
              py::list tensors;
              for (const TensorSpec& t : g.tensors(n)) tensors.append(t.name);
              d["tensors"] = tensors;
              nodes.append(d);
            }
            return nodes;
          },
          "Every node: name, op, inputs (indices of nodes), shape, options (those of the "
          "operation), "
          "tensors (names).")
      .def("tap_node", &Graph::tap_node, py::arg("tap"), "The index of the node that a tap names.")
      .def(
          "count_parameters",
          [](const Graph& g, const std::string& rule) {
            return count_parameters(g, parse_count_rule(rule));
          },
          py::arg("rule") = "parameters",
          "Numbers of the network by a counting rule: 'parameters' (all), 'caffe_first_blob', "
          "'weights'.")
      .def("count_macs", &count_macs, "Multiply-accumulates for one image.")
      .def("count_activations", &count_activations,
           "Numbers that all layers put out for one image.")
      .def("training_activation_bytes", &training_activation_bytes, py::arg("element") = 4,
           "Bytes for one image that a training step keeps for the backward pass.")
      .def("peak_activations", &peak_activations,
           "The most numbers alive at once for one image, in inference.")
      .def("summary", &summary, "A table of the layers, the taps and the totals.")
      .def("__str__", &summary);
}

}  // namespace facebench
