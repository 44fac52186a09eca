#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <torch/csrc/utils/pybind.h>

#include <map>
#include <string_view>

#include "arrays.h"
#include "common.h"
#include "facebench/embedding/batch_model.h"
#include "facebench/embedding/convert.h"
#include "facebench/embedding/dlib_network.h"
#include "facebench/embedding/extractor.h"
#include "facebench/embedding/imported_model.h"
#include "facebench/embedding/quantize.h"
#include "facebench/embedding/shards.h"
#include "input_ranges.h"
#include "json.h"
#include "modules.h"

namespace facebench {
namespace {

using Pixels = py::array_t<std::uint8_t, py::array::c_style>;

// A Python callable, batch in, batch out: numpy arrays as BatchModel::embed has them. It is called
// under the GIL, on the thread that called extract().
class PythonModel : public BatchModel {
 public:
  PythonModel(BatchModelInfo info, py::function function)
      : BatchModel(std::move(info)), function_(std::move(function)) {}

  at::Tensor embed(const at::Tensor& images) const override {
    const py::gil_scoped_acquire gil;
    // The tensor's own memory, which the array keeps alive.
    auto* const tensor = new at::Tensor(images.contiguous());
    const py::capsule owner(tensor, [](void* t) { delete static_cast<at::Tensor*>(t); });
    const py::dtype type(tensor->scalar_type() == at::kByte ? "uint8" : "float32");
    const py::array batch(type, tensor->sizes().vec(), tensor->const_data_ptr(), owner);
    const py::array output = py::module_::import("numpy").attr("asarray")(call(batch));
    if (std::string_view("fiub").find(output.dtype().kind()) == std::string_view::npos)
      throw py::value_error(fmt::format("the model '{}' gave an array of {}, expected real numbers",
                                        info().name, std::string(py::str(output.dtype()))));
    const auto rows = dense<float>(output);
    const std::vector<std::int64_t> shape(rows.shape(), rows.shape() + rows.ndim());
    return at::from_blob(const_cast<float*>(rows.data()), shape, at::kFloat).clone();
  }

 private:
  // A module on a card raises torch.OutOfMemoryError; so does OnnxEmbedder.
  py::object call(const py::array& batch) const {
    try {
      return function_(batch);
    } catch (const py::error_already_set& e) {
      if (e.matches(PyExc_KeyboardInterrupt)) throw Cancelled();
      const py::dict modules = py::module_::import("sys").attr("modules");
      if (!modules.contains("torch") || !e.matches(modules["torch"].attr("OutOfMemoryError")))
        throw;
      throw OutOfMemory(info().name, info().device == "cpu" ? "the model's device" : info().device,
                        batch.shape(0), std::string(py::str(e.value())));
    }
  }

  py::function function_;
};

std::vector<SampleStatus> statuses_of(const std::vector<std::int64_t>& numbers) {
  std::vector<SampleStatus> result;
  for (const std::int64_t n : numbers) result.push_back(sample_status_of(n));
  return result;
}

// An array (N, H, W, 3) as a source; the array outlives it in the caller's argument.
ImageArray array_source(const Pixels& images, std::vector<std::string> names,
                        const std::vector<std::int64_t>& status) {
  if (images.ndim() != 4 || images.shape(3) != 3)
    throw std::invalid_argument("images are an array uint8 (N, H, W, 3), RGB");
  const ImageShape shape{static_cast<int>(images.shape(1)), static_cast<int>(images.shape(2))};
  return {images.data(), images.shape(0), shape, std::move(names), statuses_of(status)};
}

// What a model makes of an array, as an Embedder.
py::array_t<float> embed_array(const Model& model, const Pixels& images) {
  const ImageArray source = array_source(images, {}, {});
  const ExtractOptions plain{.flip = "none", .normalization = "none"};
  EmbeddingSet set =
      with_job(0, py::none(), [&](const Job& job) { return extract(model, source, plain, job); });
  return py::array_t<float>({static_cast<std::int64_t>(set.size()), set.dim}, set.values.data());
}

std::vector<NamedTensor> named_tensors(const std::map<std::string, at::Tensor>& tensors) {
  std::vector<NamedTensor> result;
  for (const auto& [name, tensor] : tensors) result.push_back({name, tensor});
  return result;
}

void bind_model(py::module_& m) {
  py::class_<Model>(m, "Model", "A network with its weights and all that is needed to use it.")
      .def_readonly("network", &Model::network, "The network's name.")
      .def_readonly("network_options", &Model::network_options, "What the network was built for.")
      .def_readwrite("options", &Model::options, "What it expects of images; see ModelOptions.")
      .def_property_readonly(
          "weights",
          [](const Model& model) -> const Network& {
            py::module_::import("torch");  // the Network gives tensors
            model.prepared->weights_are_shared();
            return model.weights;
          },
          py::return_value_policy::reference_internal, "The Network.")
      .def_readonly("sha256", &Model::sha256, "Of the file it was loaded from, or ''.")
      .def_property(
          "input_ranges", [](const Model& model) { return pairs_of(model.input_ranges); },
          [](Model& model, const RangePairs& ranges) { model.input_ranges = ranges_of(ranges); },
          "What its layers read, (low, high) by layer, for precision int8; empty: unknown.")
      .def_property_readonly(
          "training", [](const Model& model) { return json_to_python(model.training); },
          "Recipe, loss, training set, engine and device that it was trained with; None: unknown.")
      .def_property_readonly("embedding_size", &Model::embedding_size,
                             "Values of one embedding, before flips.")
      .def(
          "description",
          [](const Model& model) { return json_to_python(model_description(model)); },
          "Everything but the weights, as a dict.")
      .def("__call__", &embed_array, py::arg("images"),
           "Embed faces, uint8 (N, H, W, 3) RGB: float32 (N, D) as the network gives them, without "
           "flips and of any length. ValueError for another shape. Safe to call from several "
           "threads.")
      .def("save", &save_model, py::arg("path"), py::call_guard<WithoutGil>(),
           "Write a model file (safetensors), whole or not at all.");
  m.def(
      "make_model",
      [](const std::string& network, const NetworkOptions& network_options,
         const ModelOptions& options, const std::string& initializer, std::uint64_t seed) {
        return make_model(network, network_options, options, initializer, seed);
      },
      py::arg("network"), py::arg("network_options"), py::arg("options"), py::arg("initializer"),
      py::arg("seed"), py::call_guard<WithoutGil>());
  m.def("load_model", &load_model, py::arg("path"), py::call_guard<WithoutGil>());
  m.def("dlib_model", &dlib_model, py::arg("path") = "", py::call_guard<WithoutGil>());
  m.def(
      "conversion_defaults", [](const std::string& n) { return conversion_defaults(n); },
      py::arg("network"));
  m.def(
      "require_pixels",
      [](const std::string& network, const std::string& sha256,
         const std::vector<std::string>& stated,
         const std::string& where) { require_pixels(network, sha256, stated, where); },
      py::arg("network"), py::arg("sha256"), py::arg("stated"), py::arg("where"));
  m.def(
      "convert_weights",
      [](const std::string& network, const std::map<std::string, at::Tensor>& tensors,
         const NetworkOptions& network_options, const ModelOptions& options,
         const std::vector<std::string>& drop, const std::string& where) {
        return convert_weights(network, named_tensors(tensors), network_options, options, drop,
                               where);
      },
      py::arg("network"), py::arg("tensors"), py::arg("network_options"), py::arg("options"),
      py::arg("drop"), py::arg("where"));
}

void bind_imported_model(py::module_& m) {
  m.def(
      "imported_model",
      [](const std::string& graph, const std::map<std::string, at::Tensor>& tensors,
         const ModelOptions& options, const std::string& file, const std::string& sha256) {
        Model model = imported_model(parse_graph(parse_json(graph, file), file),
                                     named_tensors(tensors), options, file);
        model.file = file;
        model.sha256 = sha256;
        return model;
      },
      py::arg("graph"), py::arg("tensors"), py::arg("options"), py::arg("file"),
      py::arg("sha256") = "");
}

void bind_batch_model(py::module_& m) {
  py::class_<BatchFindings, std::shared_ptr<BatchFindings>>(
      m, "BatchFindings",
      "Whether a model's rows depend on their batch, as extract() found it out.")
      .def(py::init<>());
  py::class_<BatchModel>(m, "BatchModel", "A model as the extractor sees it.");
  py::class_<PythonModel, BatchModel>(m, "PythonModel", "A callable, batch in, batch out.")
      .def(py::init([](py::function function, const std::string& name, const ModelOptions& options,
                       int height, int width, bool raw_bytes, bool prepared,
                       const py::dict& description, const std::filesystem::path& file,
                       const std::string& sha256, const std::string& device,
                       const std::string& precision, const py::object& device_facts,
                       double row_tolerance, std::shared_ptr<BatchFindings> findings) {
             BatchModelInfo info;
             info.name = name;
             info.options = options;
             info.input = {height, width};
             info.raw_bytes = raw_bytes;
             info.prepared = prepared;
             info.description = json_from_python(description);
             info.file = file;
             info.sha256 = sha256;
             info.device = device;
             info.precision = precision;
             info.device_facts = json_from_python(device_facts);
             info.row_tolerance = row_tolerance;
             info.findings = std::move(findings);
             return std::make_unique<PythonModel>(std::move(info), std::move(function));
           }),
           py::arg("function"), py::kw_only(), py::arg("name"), py::arg("options"),
           py::arg("height") = 0, py::arg("width") = 0, py::arg("raw_bytes") = false,
           py::arg("prepared") = false, py::arg("description"), py::arg("file") = "",
           py::arg("sha256") = "", py::arg("device") = "cpu", py::arg("precision") = "float32",
           py::arg("device_facts") = py::none(), py::arg("row_tolerance") = 1e-3,
           py::arg("findings") = py::none());
}

template <class AnyModel>
void bind_extract(py::module_& m) {
  m.def(
      "extract",
      [](const AnyModel& model, const ImageSource& images, const ExtractOptions& options,
         int threads, py::object progress) {
        return with_job(threads, std::move(progress),
                        [&](const Job& job) { return extract(model, images, options, job); });
      },
      py::arg("model"), py::arg("images"), py::arg("options"), py::arg("threads"),
      py::arg("progress"));
  m.def(
      "extract_shard",
      [](const AnyModel& model, const ImageSource& images, const std::string& shard,
         const ExtractOptions& options, int threads, py::object progress) {
        return with_job(threads, std::move(progress), [&](const Job& job) {
          return extract_shard(model, images, parse_shard(shard), options, job);
        });
      },
      py::arg("model"), py::arg("images"), py::arg("shard"), py::arg("options"), py::arg("threads"),
      py::arg("progress"));
  m.def(
      "extract_array",
      [](const AnyModel& model, const Pixels& images, const ExtractOptions& options, int threads,
         py::object progress, std::vector<std::string> names,
         const std::vector<std::int64_t>& status) {
        const ImageArray source = array_source(images, std::move(names), status);
        return with_job(threads, std::move(progress),
                        [&](const Job& job) { return extract(model, source, options, job); });
      },
      py::arg("model"), py::arg("images"), py::arg("options"), py::arg("threads") = 0,
      py::arg("progress") = py::none(), py::arg("names") = std::vector<std::string>{},
      py::arg("status") = std::vector<std::int64_t>{});
}

void bind_micro_batch(py::module_& m) {
  m.def("micro_batch_of", &micro_batch_of, py::arg("options"), py::arg("device"));
}

void bind_input_ranges(py::module_& m) {
  const auto measure = [](const Model& model, const ImageSource& images, std::int64_t count,
                          int threads, py::object progress) {
    return pairs_of(with_job(threads, std::move(progress), [&](const Job& job) {
      return measure_input_ranges(model, images, count, job);
    }));
  };
  m.def("measure_input_ranges", measure, py::arg("model"), py::arg("images"), py::arg("count"),
        py::arg("threads"), py::arg("progress"));
  m.def(
      "measure_input_ranges",
      [measure](const Model& model, const Pixels& images, std::int64_t count, int threads,
                py::object progress) {
        return measure(model, array_source(images, {}, {}), count, threads, std::move(progress));
      },
      py::arg("model"), py::arg("images"), py::arg("count"), py::arg("threads"),
      py::arg("progress"));
}

}  // namespace

void bind_embedding(py::module_& m) {
  bind_options<ModelOptions>(m);
  bind_options<ExtractOptions>(m);
  bind_model(m);
  bind_imported_model(m);
  bind_batch_model(m);
  bind_extract<Model>(m);
  bind_extract<BatchModel>(m);
  bind_micro_batch(m);
  bind_input_ranges(m);
  m.def("merge_shards", &merge_shards, py::arg("shards"), py::call_guard<WithoutGil>(),
        "All shards of a source as one set.");
  m.def(
      "merge_shard_files",
      [](const std::vector<std::filesystem::path>& shards, const std::filesystem::path& out,
         py::object progress) {
        const MergedShards merged = with_job(1, std::move(progress), [&](const Job& job) {
          return merge_shard_files(shards, out, job);
        });
        return py::make_tuple(merged.rows, merged.dim);
      },
      py::arg("shards"), py::arg("out"), py::arg("progress"),
      "The files of all shards of a source as one file; (rows, numbers in a row).");
  m.def(
      "parse_model_description",
      [](const std::string& text, const std::string& where, const std::string& key) {
        ModelDescription d = parse_model_description(text, where, key);
        return py::make_tuple(d.network_options, d.options);
      },
      py::arg("text"), py::arg("where"), py::arg("key"));
}

}  // namespace facebench
