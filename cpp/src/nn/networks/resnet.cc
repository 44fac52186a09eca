#include <array>
#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "nn/networks/parts.h"

namespace facebench {
namespace {

// Two 3x3 convolutions (basic), or 1x1, 3x3, 1x1 with four times the width (bottleneck, the stride
// in the 3x3); a projection where the shape changes.
Value block(Graph& g, const std::string& name, Value x, std::int64_t width, std::int64_t stride,
            bool bottleneck) {
  const auto layer = [&](const char* n, Value in, const ConvOptions& o) {
    return g.batch_norm(name + ".bn" + n, g.conv(name + ".conv" + n, in, o));
  };
  const ConvOptions spatial{.out = width, .kernel = 3, .stride = stride, .padding = 1};
  Value y = x;
  if (bottleneck) {
    y = g.relu(layer("1", y, {.out = width}));
    y = g.relu(layer("2", y, spatial));
    y = layer("3", y, {.out = 4 * width});
  } else {
    y = g.relu(layer("1", y, spatial));
    y = layer("2", y, {.out = width, .kernel = 3, .padding = 1});
  }
  if (stride != 1 || g.shape(x)[0] != g.shape(y)[0]) {
    x = g.conv(name + ".downsample.0", x, {.out = g.shape(y)[0], .stride = stride});
    x = g.batch_norm(name + ".downsample.1", x);
  }
  return g.relu(g.add(y, x));
}

Graph resnet(const NetworkOptions& o, const std::array<int, 4>& blocks, bool bottleneck) {
  Graph g;
  Value x = g.input(o.channels, *o.height, *o.width);
  x = g.conv("conv1", x, {.out = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = g.relu(g.batch_norm("bn1", x));
  x = g.max_pool(x, {.kernel = 3, .stride = 2, .padding = 1});
  for (int stage = 0; stage < 4; ++stage)
    for (int b = 0; b < blocks[static_cast<std::size_t>(stage)]; ++b)
      x = block(g, "layer" + std::to_string(stage + 1) + "." + std::to_string(b), x, 64 << stage,
                stage > 0 && b == 0 ? 2 : 1, bottleneck);
  x = tap_embedding(g, g.flatten(g.global_avg_pool(x)), o);
  tap_logits(g, "fc", x, o);
  return g;
}

}  // namespace

static Graph build_resnet18(const NetworkOptions& o) { return resnet(o, {2, 2, 2, 2}, false); }
static Graph build_resnet50(const NetworkOptions& o) { return resnet(o, {3, 4, 6, 3}, true); }

std::vector<NetworkEntry> resnet_networks() {
  constexpr const char* kResNet =
      "He et al., \"Deep residual learning for image recognition\", CVPR 2016, table 1";
  return {{.name = "resnet18",
           .doc = "residual blocks of two 3x3 convolutions, torchvision's; pooled features",
           .source = kResNet,
           .defaults = {.height = 224, .width = 224, .embedding = 512},
           .build = build_resnet18},
          {.name = "resnet50",
           .doc = "residual bottlenecks with the stride in the 3x3, torchvision's; pooled features",
           .source = kResNet,
           .defaults = {.height = 224, .width = 224, .embedding = 2048},
           .build = build_resnet50}};
}

}  // namespace facebench
