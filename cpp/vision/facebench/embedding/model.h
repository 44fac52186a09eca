#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/embedding/input_view.h"
#include "facebench/embedding/prepared_networks.h"
#include "facebench/io/json.h"
#include "facebench/nn/inference_network.h"
#include "facebench/nn/network.h"
#include "facebench/nn/networks.h"

namespace facebench {

// What a model expects of its images and does with its outputs: how it was trained, hence the
// default for every step before and after the network. A data set or a caller may overrule.
struct ModelOptions {
  std::string tap = "embedding";
  std::optional<int> image_height;
  std::optional<int> image_width;
  std::string view = "whole";
  double view_fraction = 0.875;
  std::string interpolation = "bilinear";
  std::string color = "rgb";
  std::vector<double> mean = {127.5};
  std::vector<double> std = {128};
  std::string detector = "mtcnn";
  std::string detector_mode = "facenet";
  std::string selection = "nearest_center";
  std::string crop = "arcface112";
  std::string flip = "none";
  std::string normalization = "unit";
  std::string training_run;
  std::string origin;

  static void describe(OptionsBuilder<ModelOptions>& o);
};

// A network with its weights and all that is needed to use it.
struct Model {
  std::string network;             // a name of networks()
  NetworkOptions network_options;  // resolved
  ModelOptions options;
  Network weights;             // in evaluation mode when loaded
  std::filesystem::path file;  // that it was loaded from; empty otherwise
  std::string sha256;          // of that file
  InputRanges input_ranges;    // for precision int8 (embedding/quantize.h); empty: none
  Json training;               // what is known of its training (training/trainer.h); null: nothing
  // Of its weights, for extract(); never null.
  std::shared_ptr<PreparedNetworks> prepared = std::make_shared<PreparedNetworks>();

  // The number of values of one embedding before flips.
  std::int64_t embedding_size() const;
  // The size of the crops it takes, and how its input is cut out of them.
  ImageShape image_shape() const;
  InputView input_view() const;
};

// A fresh model, its weights initialised. Throws std::invalid_argument for wrong names or options
// (an unknown tap, or mean and std that do not fit the channels).
Model make_model(std::string_view network, const NetworkOptions& network_options = {},
                 const ModelOptions& options = {}, std::string_view initializer = "torch",
                 std::uint64_t seed = 0);

// Everything but the weights: {"network", "network_options", "options"}, as it stands in a model
// file's metadata; for manifests.
Json model_description(const Model& model);

// What model_description() says, read back.
struct ModelDescription {
  std::string network;
  NetworkOptions network_options;
  ModelOptions options;
};

// model_description() as text, which stands under `key` in the metadata of the file `where`. Throws
// Error naming both and what is wrong: not JSON, a key or option that is missing or unknown.
ModelDescription parse_model_description(std::string_view text, std::string_view where,
                                         std::string_view key);

// A model file is safetensors (float32, on the CPU, by the network's tensor names) whose metadata
// has "format" = "facebench-model", "version" = "1" and "model" = model_description() as JSON; with
// input ranges also "input_ranges" = {layer: [low, high], ...}, and with a record of its training
// "training", as JSON. Same model, same bytes. save_model writes the whole file or nothing. Throw
// Error naming the file and what is wrong: not a model file, a newer version, an unknown network or
// option, a tensor that is missing, unexpected, of another type or of another shape.
void save_model(const Model& model, const std::filesystem::path& path);
Model load_model(const std::filesystem::path& path);

}  // namespace facebench
