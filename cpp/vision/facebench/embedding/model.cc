#include "facebench/embedding/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/core/registry.h"
#include "facebench/embedding/imported_model.h"
#include "facebench/io/confine.h"
#include "facebench/io/safetensors.h"
#include "facebench/io/sha256.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

constexpr const char* kFormat = "facebench-model";
constexpr const char* kVersion = "1";

void check_per_channel(const std::vector<double>& values, const char* name, int channels) {
  if (values.size() != 1 && values.size() != static_cast<std::size_t>(channels))
    throw std::invalid_argument(
        fmt::format("{} has {} numbers; it takes one, or one for each of the {} channels", name,
                    values.size(), channels));
}

ImageShape crop_shape(const ModelOptions& options, const NetworkOptions& network) {
  return {options.image_height.value_or(*network.height),
          options.image_width.value_or(*network.width)};
}

InputView model_view(const ModelOptions& options, const NetworkOptions& network) {
  return {options.view,
          options.view_fraction,
          options.interpolation,
          crop_shape(options, network),
          {*network.height, *network.width}};
}

// What the described fields alone cannot tell.
void check_model_options(const ModelOptions& options, const NetworkOptions& network,
                         const Graph& graph) {
  check_options(options);
  if (graph.vocabulary() > 0)
    throw std::invalid_argument("the network reads words, a model reads images");
  graph.tap_node(options.tap);
  model_view(options, network);
  check_per_channel(options.mean, "mean", network.channels);
  check_per_channel(options.std, "std", network.channels);
  if (network.channels != (options.color == "gray" ? 1 : 3))
    throw std::invalid_argument(fmt::format("color '{}' does not fit a network with {} channels",
                                            options.color, network.channels));
}

NetworkOptions options_of_imported(const Graph& graph) {
  const Shape& input = graph.input_shape();
  for (const std::int64_t side : input)
    if (side > 4096) throw std::invalid_argument("the network's input is larger than 4096 a side");
  NetworkOptions options;
  options.channels = static_cast<int>(input[0]);
  options.height = static_cast<int>(input[1]);
  options.width = static_cast<int>(input[2]);
  return options;
}

InputRanges parse_input_ranges(std::string_view text, std::string_view where) {
  const Json json = parse_file_json(text, fmt::format("{} (metadata 'input_ranges')", where));
  InputRanges ranges;
  if (json.is_object())
    for (const auto& [layer, range] : json.items())
      if (range.is_array() && range.size() == 2 && range[0].is_number() && range[1].is_number() &&
          range[0] <= range[1])
        ranges[layer] = {range[0], range[1]};
  if (ranges.empty() || ranges.size() != json.size())
    fail(where, "metadata 'input_ranges' is not an object of pairs [low, high]",
         "Make the file again with 'facebench quantize'");
  return ranges;
}

}  // namespace

void ModelOptions::describe(OptionsBuilder<ModelOptions>& o) {
  o.name("ModelOptions", "What a model expects of its images and does with its outputs.");
  o.field("tap", &ModelOptions::tap, "the value of the network that is the embedding");
  o.field("image_height", &ModelOptions::image_height,
          "height of the crops; default: the network's input", 1, 4096);
  o.field("image_width", &ModelOptions::image_width,
          "width of the crops; default: the network's input", 1, 4096);
  o.choice("view", &ModelOptions::view, "how the input is cut out of a crop",
           input_views().names());
  o.field("view_fraction", &ModelOptions::view_fraction, "of center_fraction", 0.01, 1);
  o.choice("interpolation", &ModelOptions::interpolation,
           "between pixels, where the view changes size", interpolations().names());
  o.choice("color", &ModelOptions::color, "order of the input's channels", {"rgb", "bgr", "gray"});
  o.field("mean", &ModelOptions::mean,
          "subtracted from pixels 0..255: one number, or one for each channel", -1e6, 1e6);
  o.field("std", &ModelOptions::std, "divides after that: one number, or one for each channel",
          1e-6, 1e6);
  o.field("detector", &ModelOptions::detector, "detector of the training images");
  o.field("detector_mode", &ModelOptions::detector_mode, "its conformance mode; may be empty");
  o.field("selection", &ModelOptions::selection, "which of several faces");
  o.field("crop", &ModelOptions::crop, "crop of the training images");
  o.choice("flip", &ModelOptions::flip,
           "none, or the mirrored image's output added (sum) or appended (concat)",
           {"none", "sum", "concat"});
  o.choice("normalization", &ModelOptions::normalization, "embeddings of unit length, or as is",
           {"unit", "none"});
  o.field("training_run", &ModelOptions::training_run, "hash of the run that trained it");
  o.field("origin", &ModelOptions::origin, "where the weights come from");
}

std::int64_t Model::embedding_size() const {
  const Graph& graph = weights.graph();
  return element_count(graph.shape({graph.tap_node(options.tap)}));
}

ImageShape Model::image_shape() const { return crop_shape(options, network_options); }
InputView Model::input_view() const { return model_view(options, network_options); }

Model make_model(std::string_view network, const NetworkOptions& network_options,
                 const ModelOptions& options, std::string_view initializer, std::uint64_t seed) {
  const NetworkOptions resolved = resolve_network_options(network, network_options);
  Graph graph = build_graph(network, resolved);
  check_model_options(options, resolved, graph);
  return {std::string(network),
          resolved,
          options,
          Network(std::move(graph), initializer, seed),
          {},
          {},
          {}};
}

Model imported_model(Graph graph, std::span<const NamedTensor> tensors, const ModelOptions& options,
                     std::string_view where) {
  const NetworkOptions network_options = options_of_imported(graph);
  check_model_options(options, network_options, graph);
  Network weights(std::move(graph), tensors, where);
  weights.train(false);
  return {std::string(kImportedNetwork), network_options, options, std::move(weights), {}, {}, {}};
}

Json model_description(const Model& model) {
  return {{"network", model.network},
          {"network_options", options_to_json(model.network_options)},
          {"options", options_to_json(model.options)}};
}

ModelDescription parse_model_description(std::string_view text, std::string_view where,
                                         std::string_view key) {
  const std::string metadata = fmt::format("metadata '{}'", key);
  const Json json = parse_file_json(text, fmt::format("{} ({})", where, metadata));
  const std::array<std::string, 3> keys{"network", "network_options", "options"};
  if (!json.is_object()) fail(where, metadata + " is not an object");
  for (const auto& [name, value] : json.items())
    if (std::find(keys.begin(), keys.end(), name) == keys.end())
      fail(where, unknown_name_message("key of " + metadata, name, keys));
  for (const std::string& name : keys)
    if (!json.contains(name)) fail(where, fmt::format("{} has no '{}'", metadata, name));
  if (!json["network"].is_string()) fail(where, metadata + ": 'network' is not a text");
  ModelDescription result;
  result.network = json["network"];
  options_from_json(result.network_options, json["network_options"], where);
  // The first files had 0 where these two are unset.
  Json options = json["options"];
  for (const char* key : {"image_height", "image_width"})
    if (options.is_object() && options.contains(key) && options[key] == 0) options[key] = nullptr;
  options_from_json(result.options, options, where);
  return result;
}

void save_model(const Model& model, const std::filesystem::path& path) {
  std::vector<at::Tensor> kept;  // the bytes that the infos point into
  std::map<std::string, TensorInfo, std::less<>> tensors;
  for (const NamedTensor& t : model.weights.tensors()) {
    const at::Tensor& numbers =
        kept.emplace_back(t.tensor.detach().to(at::kCPU, at::kFloat).contiguous());
    tensors[t.name] = {DType::f32,
                       numbers.sizes().vec(),
                       {static_cast<const std::byte*>(numbers.const_data_ptr()),
                        static_cast<std::size_t>(numbers.nbytes())}};
  }
  std::map<std::string, std::string> metadata = {
      {"format", kFormat},
      {"version", kVersion},
      {"model", canonical_json(model_description(model))}};
  if (model.network == kImportedNetwork)
    metadata["graph"] = canonical_json(graph_json(model.weights.graph()));
  if (!model.input_ranges.empty()) {
    Json ranges = Json::object();
    for (const auto& [layer, range] : model.input_ranges) ranges[layer] = {range.low, range.high};
    metadata["input_ranges"] = canonical_json(ranges);
  }
  if (!model.training.is_null()) metadata["training"] = canonical_json(model.training);
  write_safetensors(path, tensors, metadata);
}

Model load_model(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  const std::string& where = file.name();
  const auto& metadata = file.metadata();
  const auto entry = [&](const char* key) {
    const auto it = metadata.find(key);
    return it == metadata.end() ? std::string() : it->second;
  };
  if (entry("format") == "facebench-own-model")
    fail(where, "the weights of a network of somebody's own, which facebench does not have",
         "Open it in Python: facebench.embedding.TorchEmbedder(network, weights=FILE)");
  if (entry("format") != kFormat)
    fail(where, "a safetensors file, but not a facebench model",
         "Make one out of foreign weights with 'facebench convert'");
  if (entry("version") != kVersion)
    fail(where,
         fmt::format("model file of version '{}', this library reads {}", entry("version"),
                     kVersion),
         "Read it with a newer facebench");
  auto [network, network_options, options] =
      parse_model_description(entry("model"), where, "model");
  Graph graph;
  try {
    if (network == kImportedNetwork) {
      const std::string place = where + " (metadata 'graph')";
      graph = parse_graph(parse_file_json(entry("graph"), place), place);
      network_options = options_of_imported(graph);
    } else {
      network_options = resolve_network_options(network, network_options);
      graph = build_graph(network, network_options);
    }
    check_model_options(options, network_options, graph);
  } catch (const std::invalid_argument& e) {
    fail(where, e.what());
  }

  std::vector<NamedTensor> tensors;
  for (const auto& [name, info] : file.tensors()) {
    if (info.dtype != DType::f32)
      fail(where, fmt::format("tensor '{}' is {}, expected F32", name, dtype_name(info.dtype)));
    // Read and copied only; torch has no read-only view.
    tensors.push_back(
        {name, at::from_blob(const_cast<std::byte*>(info.bytes.data()), info.shape, at::kFloat)});
  }
  Network weights(std::move(graph), tensors, where);
  weights.train(false);
  InputRanges ranges;
  if (const std::string text = entry("input_ranges"); !text.empty())
    ranges = parse_input_ranges(text, where);
  Json training;
  if (const std::string text = entry("training"); !text.empty()) {
    training = parse_file_json(text, where + " (metadata 'training')");
    if (!training.is_object()) fail(where, "metadata 'training' is not an object");
  }
  return {network, network_options,   options,           std::move(weights),
          path,    sha256_file(path), std::move(ranges), std::move(training)};
}

}  // namespace facebench
