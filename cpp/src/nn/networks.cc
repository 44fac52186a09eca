#include "facebench/nn/networks.h"

#include <fmt/format.h>

#include <stdexcept>

#include "nn/networks/builders.h"

namespace facebench {
namespace {

constexpr const char* kSphereFace =
    "Liu et al., \"SphereFace: deep hypersphere embedding for face recognition\", CVPR 2017, table "
    "2";

}  // namespace

const Table<NetworkEntry>& networks() {
  static const Table<NetworkEntry> table(
      "network",
      {
          {.name = "mobilefacenet",
           .doc = "inverted residuals, global depthwise convolution, ReLU6; 128 values",
           .source =
               "Chen et al., \"MobileFaceNets\", CCBR 2018, table 1; widths and activations of "
               "widely used weights with twice the expansion of the deepest stage and "
               "ReLU6 in place of PReLU",
           .defaults = {.height = 112, .width = 112, .embedding = 128},
           .build = build_mobilefacenet},
          {.name = "small4",
           .doc =
               "four stride-2 convolutions 32-64-128-256, BN, PReLU: trains on a CPU in a minute",
           .source = "this project; the depth of SphereFace-4",
           .defaults = {.height = 64, .width = 64, .embedding = 128},
           .scalable = true,
           .build = build_small4},
          {.name = "sphereface4",
           .doc = "four stride-2 convolutions 64-128-256-512, PReLU, FC",
           .source = kSphereFace,
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_sphereface4},
          {.name = "sphereface10",
           .doc = "SphereFace-4 with 0-1-2-0 residual blocks",
           .source = kSphereFace,
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_sphereface10},
          {.name = "sphereface20",
           .doc = "SphereFace-4 with 1-2-4-1 residual blocks",
           .source = kSphereFace,
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_sphereface20},
          {.name = "sphereface36",
           .doc = "SphereFace-4 with 2-4-8-2 residual blocks",
           .source = kSphereFace,
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_sphereface36},
          {.name = "sphereface64",
           .doc = "SphereFace-4 with 3-8-16-3 residual blocks",
           .source = kSphereFace,
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_sphereface64},
      });
  return table;
}

NetworkOptions resolve_network_options(std::string_view name, const NetworkOptions& options) {
  const NetworkEntry& entry = networks().at(name);
  check_options(options);
  NetworkOptions resolved = options;
  if (resolved.height == 0) resolved.height = entry.defaults.height;
  if (resolved.width == 0) resolved.width = entry.defaults.width;
  if (resolved.embedding == 0) resolved.embedding = entry.defaults.embedding;
  if (!entry.scalable && resolved.channel_multiplier != 1)
    throw std::invalid_argument(fmt::format("network '{}' has no channel_multiplier", name));
  return resolved;
}

Graph build_network(std::string_view name, const NetworkOptions& options) {
  return networks().at(name).build(resolve_network_options(name, options));
}

}  // namespace facebench
