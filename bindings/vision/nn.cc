#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/csrc/utils/pybind.h>

#include <charconv>
#include <map>

#include "common.h"
#include "facebench/nn/graph_summary.h"
#include "facebench/nn/inference_network.h"
#include "facebench/nn/initializers.h"
#include "facebench/nn/network.h"
#include "facebench/nn/networks.h"
#include "facebench/nn/torch_device.h"
#include "input_ranges.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

py::dict named(const std::vector<NamedTensor>& tensors) {
  return dict_by(tensors, &NamedTensor::name, &NamedTensor::tensor);
}

// What torch could not allocate, which it says with a line of its own source. torch, imported
// later, has a translator for all modules; that of one module comes first.
void translate_lack_of_memory() {
  py::register_local_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const c10::Error& e) {
      constexpr std::string_view before = "you tried to allocate ";
      const std::string_view text = e.what_without_backtrace();
      const std::size_t at = text.find(before);
      std::uint64_t bytes = 0;
      if (at == std::string_view::npos) throw;  // the next translator's
      std::from_chars(text.data() + at + before.size(), text.data() + text.size(), bytes);
      PyErr_SetString(PyExc_MemoryError,
                      fmt::format("there is not enough memory: {:.1f} GiB are wanted at once",
                                  static_cast<double>(bytes) / (1 << 30))
                          .c_str());
    }
  });
}

std::vector<at::Tensor> unnamed(const std::vector<NamedTensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const NamedTensor& t : tensors) result.push_back(t.tensor);
  return result;
}

std::string type_name(const py::object& value) {
  return std::string(py::str(py::type::of(value).attr("__name__")));
}

at::Device device_of(const py::object& device, at::Device current) {
  if (device.is_none()) return current;
  if (py::isinstance<py::str>(device)) return torch_device(device.cast<std::string>());
  if (py::isinstance(device, py::module_::import("torch").attr("device")))
    return device.cast<at::Device>();
  throw py::type_error("device must be text or a torch.device, not " + type_name(device));
}

at::ScalarType dtype_of(const py::object& dtype, at::ScalarType current) {
  if (dtype.is_none()) return current;
  if (py::isinstance(dtype, py::module_::import("torch").attr("dtype")))
    return dtype.cast<at::ScalarType>();
  throw py::type_error("dtype must be a torch.dtype, not " + type_name(dtype));
}

// Running a network, and what becomes of its weights.
void bind_network_use(py::class_<Network>& network) {
  network
      .def(
          "state_dict",
          [](const Network& n) {
            return dict_by(n.tensors(), &NamedTensor::name,
                           [](const NamedTensor& t) { return t.tensor.detach(); });
          },
          "Name -> tensor (sharing memory) of every parameter and buffer.")
      .def(
          "load_state_dict",
          [](Network& n, const std::map<std::string, at::Tensor>& tensors,
             const std::string& where) {
            std::vector<NamedTensor> list;
            for (const auto& [name, tensor] : tensors) list.push_back({name, tensor});
            n.load(list, where);
          },
          py::arg("tensors"), py::arg("where") = "state dict",
          "Copy numbers in. facebench.Error names a tensor that is missing, unexpected or of "
          "another shape.")
      .def(
          "train",
          [](Network& n, bool mode) -> Network& {
            n.train(mode);
            return n;
          },
          py::arg("mode") = true, py::return_value_policy::reference_internal)
      .def(
          "eval",
          [](Network& n) -> Network& {
            n.train(false);
            return n;
          },
          py::return_value_policy::reference_internal)
      .def_property_readonly("training", &Network::training)
      .def_property_readonly("device", &Network::device)
      .def_property_readonly("dtype", &Network::dtype)
      .def(
          "to",
          [](Network& n, const py::object& device, const py::object& dtype) -> Network& {
            n.to(device_of(device, n.device()), dtype_of(dtype, n.dtype()));
            return n;
          },
          py::arg("device") = py::none(), py::arg("dtype") = py::none(),
          py::return_value_policy::reference_internal,
          "Move every tensor (each keeps its identity; gradients are dropped).")
      .def(
          "channels_last",
          [](Network& n, bool on) -> Network& {
            n.channels_last(on);
            return n;
          },
          py::arg("on") = true, py::return_value_policy::reference_internal,
          "Lay values out as NHWC: the same numbers, faster.")
      .def("set_dropout", &Network::set_dropout, py::arg("seed"), py::arg("step"),
           "Dropout's masks depend on these and the layer alone.")
      .def(
          "use_dropout",
          [](Network& n, bool on) -> Network& {
            n.use_dropout(on);
            return n;
          },
          py::arg("on") = true, py::return_value_policy::reference_internal,
          "Whether dropout drops in training mode.")
      .def("clone", &Network::clone)
      .def(
          "fold_batch_norm", [](const Network& n) { return fold_batch_norm(n); },
          "The same network for inference with its batch norms folded into the layers before.");
}

void bind_network(py::module_& m) {
  const auto no_gil = py::call_guard<WithoutGil>();
  py::class_<Network> network(m, "Network",
                              "A network run by torch; see facebench.nn.build_network.");
  network
      .def_property_readonly("graph", &Network::graph, py::return_value_policy::reference_internal)
      .def(
          "forward",
          [](Network& n, const at::Tensor& images, const std::string& tap) {
            return n.forward(images, tap);
          },
          py::arg("images"), py::arg("tap") = "embedding", no_gil,
          "The tapped value for images (N, C, H, W); recorded by autograd.")
      .def(
          "__call__",
          [](Network& n, const at::Tensor& images, const std::string& tap) {
            return n.forward(images, tap);
          },
          py::arg("images"), py::arg("tap") = "embedding", no_gil)
      .def(
          "forward_taps",
          [](Network& n, const at::Tensor& images, const std::vector<std::string>& taps) {
            return n.forward(images, std::span<const std::string>(taps));
          },
          py::arg("images"), py::arg("taps"), no_gil, "Several tapped values of one pass.")
      .def(
          "infer",
          [](const Network& n, const at::Tensor& images, const std::string& tap) {
            return n.infer(images, tap);
          },
          py::arg("images"), py::arg("tap") = "embedding", no_gil,
          "The tapped value in evaluation mode, without gradients, whatever `training` says.")
      .def("parameters", [](const Network& n) { return unnamed(n.parameters()); })
      .def("buffers", [](const Network& n) { return unnamed(n.buffers()); })
      .def("named_parameters",
           [](const Network& n) { return named(n.parameters()).attr("items")(); })
      .def("named_buffers", [](const Network& n) { return named(n.buffers()).attr("items")(); });
  bind_network_use(network);
}

void bind_inference_network(py::module_& m) {
  m.def(
      "precision_cost",
      [](const std::string& precision) {
        return precision_cost(inference_precisions().at(precision).precision);
      },
      py::arg("precision"),
      "A sentence on what a precision costs on this processor where it gains little there; else "
      "empty.");
  py::class_<InferenceNetwork>(m, "InferenceNetwork",
                               "A network frozen for inference: batch norms folded, NHWC, packed "
                               "weights. Its numbers differ "
                               "from Network.infer by rounding alone.")
      .def(py::init([](const Network& network, std::int64_t batch, const std::string& precision,
                       const RangePairs& input_ranges) {
             return InferenceNetwork(network, batch, inference_precisions().at(precision).precision,
                                     ranges_of(input_ranges));
           }),
           py::arg("network"), py::arg("batch") = 8, py::arg("precision") = "float32",
           py::arg("input_ranges") = RangePairs{})
      .def(
          "input_ranges",
          [](const InferenceNetwork& n, const at::Tensor& images, const std::string& tap) {
            std::vector<RangePairs> ranges;
            for (const InputRanges& of_image : n.input_ranges(images, tap))
              ranges.push_back(pairs_of(of_image));
            return ranges;
          },
          py::arg("images"), py::arg("tap") = "embedding", py::call_guard<WithoutGil>(),
          "For each image (low, high) of what the layers read of it, by layer.")
      .def(
          "infer",
          [](const InferenceNetwork& n, const at::Tensor& images, const std::string& tap) {
            return n.infer(images, tap);
          },
          py::arg("images"), py::arg("tap") = "embedding", py::call_guard<WithoutGil>(),
          "The tapped value for images (N, C, H, W).")
      .def(
          "time_steps",
          [](const InferenceNetwork& n, const at::Tensor& images, int rounds,
             const std::string& tap) {
            std::vector<InferenceStep> steps;
            {
              const WithoutGil without_gil;
              steps = n.time_steps(images, rounds, tap);
            }
            py::list result;
            for (const InferenceStep& s : steps)
              result.append(py::dict(py::arg("layers") = s.layers, py::arg("method") = s.method,
                                     py::arg("output") = s.output, py::arg("macs") = s.macs,
                                     py::arg("bytes") = s.bytes, py::arg("seconds") = s.seconds));
            return result;
          },
          py::arg("images"), py::arg("rounds") = 9, py::arg("tap") = "embedding",
          "For each step of infer(), in order: layers, method, output (C, H, W), macs and bytes "
          "of\n"
          "an image, seconds of all images (median of the rounds).");
}

}  // namespace

void bind_nn(py::module_& m) {
  translate_lack_of_memory();
  bind_options<NetworkOptions>(m);
  bind_nn_graph(m);
  bind_network(m);
  bind_inference_network(m);
  m.def(
      "networks",
      [] {
        return table_list(
            networks(), "source", &NetworkEntry::source, "options",
            [](const NetworkEntry& e) { return resolve_network_options(e.name, {}); });
      },
      "Every network: name, doc, source, options (its defaults).");
  m.def(
      "initializers",
      [] { return table_list(initializers(), "source", &InitializerEntry::source); },
      "Every initialiser: name, doc, source.");
  m.def("count_rules", &count_rule_names, "The counting rules of Graph.count_parameters.");
  m.def(
      "build_graph",
      [](const std::string& name, const NetworkOptions& options) {
        return build_graph(name, options);
      },
      py::arg("name"), py::arg("options"));
  m.def(
      "build_network",
      [](const std::string& name, const NetworkOptions& options, const std::string& initializer,
         std::uint64_t seed) { return build_network(name, options, initializer, seed); },
      py::arg("name"), py::arg("options"), py::arg("initializer"), py::arg("seed"),
      py::call_guard<WithoutGil>());
}

}  // namespace facebench
