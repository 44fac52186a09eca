#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/embedding/model.h"

namespace facebench {

// How a project that publishes weights makes numbers of pixels; as in ModelOptions.
struct PublishedPixels {
  std::string project;
  std::string color;
  std::vector<double> mean, std;
};

// A published file of weights.
struct KnownWeights {
  std::string sha256;
  std::string source;
};

// What is known about published weights of a network: the names of their tensors, and how the
// images were made.
struct ConversionEntry {
  std::string name;  // the network's
  std::string doc;
  // Beginnings of foreign names and what ours begin with instead; the first that fits is used.
  std::vector<std::pair<std::string, std::string>> renames;
  // Tensors that are always 1 in the foreign code, and that the network here does not have: they
  // are left out, and any other value is an error.
  std::vector<std::string> ones;
  ModelOptions options;
  // Where several projects publish weights of this network for different pixels: all of them, and
  // the files whose pixels are those of `options`.
  std::vector<PublishedPixels> pixels = {};
  std::vector<KnownWeights> known = {};
};
const Table<ConversionEntry>& conversions();

// Throws std::invalid_argument where nothing says what the pixels of a file of weights are: several
// conventions are published for the network, the file is none that is known, and `stated` (the
// options that the caller gave) lacks color, mean or std. `where` names the file.
void require_pixels(std::string_view network, std::string_view sha256,
                    std::span<const std::string> stated, std::string_view where);

// The options that foreign weights of this network get unless the caller says otherwise: the
// table's, or the plain defaults.
ModelOptions conversion_defaults(std::string_view network);

// A foreign tensor and the name that it has in a network of the library.
struct OwnName {
  std::string name, foreign;
  at::Tensor tensor;
};

// Foreign tensors by the network's own names, which `expected` are: the modules that the network is
// wrapped in ("module.", "backbone.", "features.module.") leave them, and known renames are undone.
// Left out are counters of batches, what begins with one of `drop`, and what must be 1. Throws
// Error as convert_weights() does. `network` may be one of the caller's, of which nothing is known.
std::vector<OwnName> own_names(std::string_view network, std::span<const NamedTensor> tensors,
                               const std::set<std::string>& expected,
                               std::span<const std::string> drop, std::string_view where);

// Foreign tensors, as a PyTorch state dict has them, as a model. The modules that the network is
// wrapped in ("module.", "backbone.", "features.module.") leave its names; counters of batches
// ("....num_batches_tracked") are left out, and so is what begins with one of `drop` (a classifier
// that is not wanted), with or without the wrapper. Numbers become float32. `where` names the
// source in messages. Throws Error where a tensor is missing, unexpected, of another shape, not of
// a floating point type, or not the 1 that it must be, and where the network is there twice;
// std::invalid_argument for wrong names or options.
Model convert_weights(std::string_view network, std::span<const NamedTensor> tensors,
                      const NetworkOptions& network_options, const ModelOptions& options,
                      std::span<const std::string> drop, std::string_view where);

}  // namespace facebench
