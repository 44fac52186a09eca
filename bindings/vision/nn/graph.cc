#include <torch/csrc/utils/pybind.h>

#include <map>
#include <variant>

#include "common.h"
#include "facebench/nn/graph_summary.h"
#include "modules.h"

namespace facebench {
namespace {

using namespace py::literals;

py::tuple pair(Size2 s) { return py::make_tuple(s.height, s.width); }
py::tuple sides(const Padding& p) { return py::make_tuple(p.top, p.left, p.bottom, p.right); }

// The options of a node's operation by their names in C++: what exporters read.
py::dict options_dict(const NoOptions&) { return {}; }
py::dict options_dict(const ConvOptions& o) {
  return py::dict("out"_a = o.out, "kernel"_a = pair(o.kernel), "stride"_a = pair(o.stride),
                  "padding"_a = sides(o.padding), "dilation"_a = pair(o.dilation),
                  "groups"_a = o.groups, "bias"_a = o.bias);
}
py::dict options_dict(const LinearOptions& o) {
  return py::dict("out"_a = o.out, "bias"_a = o.bias);
}
py::dict options_dict(const BatchNormOptions& o) {
  return py::dict("eps"_a = o.eps, "momentum"_a = o.momentum, "scale"_a = o.scale,
                  "shift"_a = o.shift);
}
py::dict options_dict(const PreluOptions& o) { return py::dict("shared"_a = o.shared); }
py::dict options_dict(const PoolOptions& o) {
  return py::dict("kernel"_a = pair(o.kernel), "stride"_a = pair(o.stride),
                  "padding"_a = sides(o.padding), "ceil_mode"_a = o.ceil_mode,
                  "count_include_pad"_a = o.count_include_pad);
}
py::dict options_dict(const AdaptivePoolOptions& o) { return py::dict("out"_a = pair(o.out)); }
py::dict options_dict(const LrnOptions& o) {
  return py::dict("size"_a = o.size, "alpha"_a = o.alpha, "beta"_a = o.beta, "k"_a = o.k);
}
py::dict options_dict(const DropoutOptions& o) { return py::dict("p"_a = o.p); }
py::dict options_dict(const ScaleOptions& o) { return py::dict("factor"_a = o.factor); }
py::dict options_dict(const LayerNormOptions& o) { return py::dict("eps"_a = o.eps); }
py::dict options_dict(const AttentionOptions& o) { return py::dict("heads"_a = o.heads); }
py::dict options_dict(const WordsOptions& o) { return py::dict("vocabulary"_a = o.vocabulary); }
py::dict options_dict(const LookupOptions& o) { return py::dict("width"_a = o.width); }
py::dict options_dict(const LstmOptions& o) { return py::dict("out"_a = o.out); }

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
            py::dict shapes;
            for (const TensorSpec& t : g.tensors()) shapes[py::str(t.name)] = t.shape;
            return shapes;
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
              d["options"] = std::visit([](const auto& o) { return options_dict(o); }, n.options);
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
