#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/embedding/model.h"

namespace facebench {

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
};
const Table<ConversionEntry>& conversions();

// The options that foreign weights of this network get unless the caller says otherwise: the
// table's, or the plain defaults.
ModelOptions conversion_defaults(std::string_view network);

// Foreign tensors, as a PyTorch state dict has them, as a model. A leading "module." (data
// parallel) is dropped, counters of batches ("....num_batches_tracked") are left out, and so is
// what begins with one of `drop` (a classifier that is not wanted). Numbers become float32. `where`
// names the source in messages. Throws Error where a tensor is missing, unexpected, of another
// shape, not of a floating point type, or not the 1 that it must be; std::invalid_argument for
// wrong names or options.
Model convert_weights(std::string_view network, std::span<const NamedTensor> tensors,
                      const NetworkOptions& network_options, const ModelOptions& options,
                      std::span<const std::string> drop, std::string_view where);

}  // namespace facebench
