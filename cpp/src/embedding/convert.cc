#include "facebench/embedding/convert.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "facebench/core/error.h"

namespace facebench {
namespace {

std::string own_name(std::string_view foreign, const ConversionEntry* entry) {
  if (foreign.starts_with("module.")) foreign.remove_prefix(7);
  if (entry)
    for (const auto& [from, to] : entry->renames)
      if (foreign.starts_with(from)) return to + std::string(foreign.substr(from.size()));
  return std::string(foreign);
}

bool left_out(std::string_view name, std::span<const std::string> drop) {
  if (name.ends_with(".num_batches_tracked")) return true;
  for (const std::string& prefix : drop)
    if (!prefix.empty() && name.starts_with(prefix)) return true;
  return false;
}

}  // namespace

const Table<ConversionEntry>& conversions() {
  // insightface keeps the scale of the last batch norm at 1 and adds the mirrored image's features.
  const auto insightface = [](const char* network) {
    return ConversionEntry{
        .name = network,
        .doc = "insightface's PyTorch IResNet (arcface_torch); our names are its own",
        .renames = {},
        .ones = {"features.weight"},
        .options = {.mean = {127.5}, .std = {127.5}, .crop = "arcface112", .flip = "sum"}};
  };
  static const Table<ConversionEntry> table(
      "conversion",
      {
          insightface("iresnet18"),
          insightface("iresnet34"),
          insightface("iresnet50"),
          insightface("iresnet100"),
          {.name = "mobilefacenet",
           .doc =
               "PyTorch MobileFaceNet with ReLU6, normalised by ImageNet's mean and deviation; our "
               "names are its own",
           .renames = {},
           .ones = {},
           .options = {.mean = {123.675, 116.28, 103.53},
                       .std = {58.395, 57.12, 57.375},
                       .detector = "mtcnn",
                       .detector_mode = "facenet",
                       .selection = "nearest_center",
                       .crop = "arcface112",
                       .flip = "sum",
                       .normalization = "unit"}},
      });
  return table;
}

ModelOptions conversion_defaults(std::string_view network) {
  networks().at(network);
  const ConversionEntry* entry = conversions().find(network);
  return entry ? entry->options : ModelOptions{};
}

Model convert_weights(std::string_view network, std::span<const NamedTensor> tensors,
                      const NetworkOptions& network_options, const ModelOptions& options,
                      std::span<const std::string> drop, std::string_view where) {
  const NetworkOptions resolved = resolve_network_options(network, network_options);
  const ConversionEntry* entry = conversions().find(network);
  std::vector<NamedTensor> own;
  for (const NamedTensor& t : tensors) {
    const std::string name = own_name(t.name, entry);
    if (left_out(name, drop)) continue;
    if (!t.tensor.defined() || !t.tensor.is_floating_point())
      fail(where, fmt::format("tensor '{}' is not of a floating point type", t.name),
           "Quantised or integer weights cannot be converted");
    if (entry && std::find(entry->ones.begin(), entry->ones.end(), name) != entry->ones.end()) {
      if (!t.tensor.eq(1).all().item<bool>())
        fail(where, fmt::format("tensor '{}' is not 1 throughout", t.name),
             "The network keeps this scale at 1; these weights are of another one");
      continue;
    }
    own.push_back({name, t.tensor});
  }
  Model model = make_model(network, resolved, options);
  model.weights.load(own, where);
  model.weights.train(false);
  return model;
}

}  // namespace facebench
