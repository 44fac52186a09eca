#include "facebench/embedding/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

std::string own_name(std::string_view foreign, const ConversionEntry* entry) {
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

// The modules that people wrap a network in to train it, as the beginning of its tensors' names
// ("module.", "backbone."): the one under which most of the network is.
std::string wrapper_of(std::span<const NamedTensor> tensors, const std::set<std::string>& expected,
                       const ConversionEntry* entry, std::span<const std::string> drop,
                       std::string_view where) {
  // Tensors of the network under each beginning.
  std::map<std::string_view, std::size_t> beginnings;
  for (const NamedTensor& t : tensors) {
    if (left_out(t.name, drop)) continue;
    const std::string_view name = t.name;
    for (std::size_t at = 0; at != std::string_view::npos;) {
      if (expected.contains(own_name(name.substr(at), entry))) ++beginnings[name.substr(0, at)];
      at = name.find('.', at);
      if (at != std::string_view::npos) ++at;
    }
  }
  std::string_view wrapper;
  std::size_t most = 0;
  for (const auto& [beginning, count] : beginnings) {
    if (!wrapper.empty() && count == expected.size() && most == count)
      fail(where, fmt::format("holds the network under '{}' and '{}'", wrapper, beginning),
           "Leave one of them out (drop, --drop)");
    if (count <= most) continue;
    wrapper = beginning;
    most = count;
  }
  return std::string(wrapper);
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
        .options = {.mean = {127.5}, .std = {127.5}, .crop = "arcface112", .flip = "sum"},
        .pixels = {{"deepinsight/insightface arcface_torch", "rgb", {127.5}, {127.5}},
                   {"IrvingMeng/MagFace", "bgr", {0}, {255}}}};
  };
  // The token of masked patches is of training alone: --drop mask_token.
  const auto insightface_vit = [&](const char* network) {
    ConversionEntry entry = insightface(network);
    entry.doc = "insightface's PyTorch vision transformer (arcface_torch), with --drop mask_token";
    entry.renames = {{"pos_embed", "pos_embed.weight"}};
    entry.ones = {};
    entry.pixels.resize(1);
    return entry;
  };
  const std::vector<double> imagenet_mean = {123.675, 116.28, 103.53};
  const std::vector<double> imagenet_std = {58.395, 57.12, 57.375};
  static const Table<ConversionEntry> table(
      "conversion",
      {
          insightface("iresnet18"),
          insightface("iresnet34"),
          insightface("iresnet50"),
          insightface("iresnet100"),
          insightface_vit("vit_s"),
          insightface_vit("vit_b"),
          {.name = "mobilefacenet",
           .doc =
               "PyTorch MobileFaceNet with ReLU6, normalised by ImageNet's mean and deviation; our "
               "names are its own",
           .renames = {},
           .ones = {},
           .options = {.mean = imagenet_mean,
                       .std = imagenet_std,
                       .detector = "mtcnn",
                       .detector_mode = "facenet",
                       .selection = "nearest_center",
                       .crop = "arcface112",
                       .flip = "sum",
                       .normalization = "unit"},
           .pixels = {{"foamliu/MobileFaceNet", "rgb", imagenet_mean, imagenet_std},
                      {"Xiaoccer/MobileFaceNet_Pytorch", "rgb", {127.5}, {128}},
                      {"JDAI-CV/FaceX-Zoo", "bgr", {127.5}, {128}}},
           .known = {{"90a00ba1d8b0b688af3deb731ed53dca582e6106805d1bc3cfdef55f570493f4",
                      "github.com/foamliu/MobileFaceNet weights/mobilefacenet.pt"}}},
          {.name = "dlib_resnet29",
           .doc = "dlib's face recognition network, dlib_face_recognition_resnet_model_v1.dat",
           .renames = {},
           .ones = {},
           .options = {.mean = {122.782, 117.001, 104.298},
                       .std = {256},
                       .detector = "dlib",
                       .detector_mode = "",
                       .crop = "dlib150",
                       .normalization = "none"}},
          {.name = "resnet50",
           .doc = "torchvision's ResNet-50; our names are its own",
           .renames = {},
           .ones = {},
           .options = {.mean = imagenet_mean, .std = imagenet_std},
           .pixels = {{"pytorch/vision (ImageNet)", "rgb", imagenet_mean, imagenet_std},
                      {"ox-vgg/vgg_face2", "bgr", {91.4953, 103.8827, 131.0912}, {1}}}},
      });
  return table;
}

ModelOptions conversion_defaults(std::string_view network) {
  networks().at(network);
  const ConversionEntry* entry = conversions().find(network);
  return entry ? entry->options : ModelOptions{};
}

void require_pixels(std::string_view network, std::string_view sha256,
                    std::span<const std::string> stated, std::string_view where) {
  const ConversionEntry* entry = conversions().find(network);
  if (!entry || entry->pixels.empty()) return;
  const bool all_stated = std::ranges::all_of(
      std::array{"color", "mean", "std"},
      [&](const char* name) { return std::ranges::find(stated, name) != stated.end(); });
  if (all_stated ||
      std::ranges::find(entry->known, sha256, &KnownWeights::sha256) != entry->known.end())
    return;
  std::string ways;
  for (const PublishedPixels& p : entry->pixels)
    ways += fmt::format("{}color={} mean={} std={} ({})", ways.empty() ? "" : "; ", p.color,
                        fmt::join(p.mean, ","), fmt::join(p.std, ","), p.project);
  throw std::invalid_argument(fmt::format(
      "{}: weights of {} are published for different pixels, and SHA-256 {} is not a file that is "
      "known. State color, mean and std. Published are: {}",
      where, network, sha256, ways));
}

std::vector<OwnName> own_names(std::string_view network, std::span<const NamedTensor> tensors,
                               const std::set<std::string>& expected,
                               std::span<const std::string> drop, std::string_view where) {
  const ConversionEntry* entry = conversions().find(network);
  const std::string wrapper = wrapper_of(tensors, expected, entry, drop, where);
  std::vector<OwnName> result;
  for (const NamedTensor& t : tensors) {
    const std::string_view foreign = t.name;
    const bool wrapped = foreign.starts_with(wrapper);
    const std::string name =
        wrapped ? own_name(foreign.substr(wrapper.size()), entry) : std::string(foreign);
    if (left_out(name, drop) || left_out(foreign, drop)) continue;
    if (!t.tensor.defined() || !t.tensor.is_floating_point())
      fail(where, fmt::format("tensor '{}' is not of a floating point type", t.name),
           "Quantised or integer weights cannot be converted");
    if (entry && std::find(entry->ones.begin(), entry->ones.end(), name) != entry->ones.end()) {
      if (!t.tensor.eq(1).all().item<bool>())
        fail(where, fmt::format("tensor '{}' is not 1 throughout", t.name),
             "The network keeps this scale at 1; these weights are of another one");
      continue;
    }
    result.push_back({name, t.name, t.tensor});
  }
  return result;
}

Model convert_weights(std::string_view network, std::span<const NamedTensor> tensors,
                      const NetworkOptions& network_options, const ModelOptions& options,
                      std::span<const std::string> drop, std::string_view where) {
  const NetworkOptions resolved = resolve_network_options(network, network_options);
  Model model = make_model(network, resolved, options);
  std::set<std::string> expected;
  for (const TensorSpec& t : model.weights.graph().tensors()) expected.insert(t.name);
  std::vector<NamedTensor> network_tensors;
  for (const OwnName& t : own_names(network, tensors, expected, drop, where))
    network_tensors.push_back({t.name, t.tensor});
  model.weights.load(network_tensors, where);
  model.weights.train(false);
  return model;
}

}  // namespace facebench
