#include <array>
#include <string>
#include <vector>

#include "facebench/nn/networks.h"

namespace facebench {
namespace {

// Four stages of one stride-2 convolution and `blocks[i]` residual blocks of two convolutions each,
// every convolution with a bias and a PReLU. Layer names are those of the authors' prototxt.
Graph sphereface(const NetworkOptions& o, const std::array<int, 4>& blocks) {
  Graph g;
  Value x = g.input(o.channels, *o.height, *o.width);
  for (int i = 0; i < 4; ++i) {
    const std::int64_t width = 64 << i;
    int layer = 0;
    const auto conv = [&](Value in, std::int64_t stride) {
      const std::string n = std::to_string(i + 1) + "_" + std::to_string(++layer);
      Value y = g.conv("conv" + n, in,
                       {.out = width, .kernel = 3, .stride = stride, .padding = 1, .bias = true});
      return g.prelu("relu" + n, y);
    };
    x = conv(x, 2);
    for (int b = 0; b < blocks[static_cast<std::size_t>(i)]; ++b) {
      const Value inner = conv(x, 1);
      x = g.add(x, conv(inner, 1));
    }
  }
  x = g.linear("fc5", g.flatten(x), {.out = *o.embedding});
  g.tap("embedding", x);
  if (o.classes > 0) g.tap("logits", g.linear("fc6", x, {.out = o.classes, .bias = false}));
  return g;
}

}  // namespace

static Graph build_sphereface4(const NetworkOptions& o) { return sphereface(o, {0, 0, 0, 0}); }
static Graph build_sphereface10(const NetworkOptions& o) { return sphereface(o, {0, 1, 2, 0}); }
static Graph build_sphereface20(const NetworkOptions& o) { return sphereface(o, {1, 2, 4, 1}); }
static Graph build_sphereface36(const NetworkOptions& o) { return sphereface(o, {2, 4, 8, 2}); }
static Graph build_sphereface64(const NetworkOptions& o) { return sphereface(o, {3, 8, 16, 3}); }

std::vector<NetworkEntry> sphereface_networks() {
  constexpr const char* kSphereFace =
      "Liu et al., \"SphereFace: deep hypersphere embedding for face recognition\", CVPR 2017, "
      "table "
      "2";
  return {{.name = "sphereface4",
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
           .build = build_sphereface64}};
}

}  // namespace facebench
