#include <array>
#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

// norm, 3x3, norm, PReLU, 3x3, norm, and nothing behind the sum. Names are insightface's.
Value block(Graph& g, const std::string& name, Value x, std::int64_t width, std::int64_t stride) {
  Value y = g.batch_norm(name + ".bn1", x);
  y = g.conv(name + ".conv1", y, {.out = width, .kernel = 3, .padding = 1});
  y = g.prelu(name + ".prelu", g.batch_norm(name + ".bn2", y));
  y = g.conv(name + ".conv2", y, {.out = width, .kernel = 3, .stride = stride, .padding = 1});
  y = g.batch_norm(name + ".bn3", y);
  if (stride != 1) {
    x = g.conv(name + ".downsample.0", x, {.out = width, .stride = stride});
    x = g.batch_norm(name + ".downsample.1", x);
  }
  return g.add(y, x);
}

Graph iresnet(const NetworkOptions& o, const std::array<int, 4>& blocks) {
  Graph g;
  Value x = g.input(o.channels, *o.height, *o.width);
  x = g.conv("conv1", x, {.out = 64, .kernel = 3, .padding = 1});
  x = g.prelu("prelu", g.batch_norm("bn1", x));
  for (int stage = 0; stage < 4; ++stage)
    for (int b = 0; b < blocks[static_cast<std::size_t>(stage)]; ++b)
      x = block(g, "layer" + std::to_string(stage + 1) + "." + std::to_string(b), x, 64 << stage,
                b == 0 ? 2 : 1);
  x = g.linear("fc", g.flatten(g.batch_norm("bn2", x)), {.out = *o.embedding});
  // Its scale is fixed at 1 there.
  x = g.batch_norm("features", x, {.scale = false});
  g.tap("embedding", x);
  tap_logits(g, "classifier", x, o, /*dropout=*/0, /*bias=*/false);
  return g;
}

}  // namespace

static Graph build_iresnet18(const NetworkOptions& o) { return iresnet(o, {2, 2, 2, 2}); }
static Graph build_iresnet34(const NetworkOptions& o) { return iresnet(o, {3, 4, 6, 3}); }
static Graph build_iresnet50(const NetworkOptions& o) { return iresnet(o, {3, 4, 14, 3}); }
static Graph build_iresnet100(const NetworkOptions& o) { return iresnet(o, {3, 13, 30, 3}); }

std::vector<NetworkEntry> iresnet_networks() {
  constexpr const char* kIResNet =
      "Deng et al., \"ArcFace\", CVPR 2019, section 3.1; insightface's PyTorch networks";
  return {{.name = "iresnet18",
           .doc = "improved residual blocks 2-2-2-2, PReLU, FC, batch norm: the usual network of "
                  "CosFace and ArcFace",
           .source = kIResNet,
           .defaults = {.height = 112, .width = 112, .embedding = 512},
           .build = build_iresnet18},
          {.name = "iresnet34",
           .doc = "improved residual blocks 3-4-6-3, PReLU, FC, batch norm: the usual network of "
                  "CosFace and ArcFace",
           .source = kIResNet,
           .defaults = {.height = 112, .width = 112, .embedding = 512},
           .build = build_iresnet34},
          {.name = "iresnet50",
           .doc = "improved residual blocks 3-4-14-3, PReLU, FC, batch norm: the usual network of "
                  "CosFace and ArcFace",
           .source = kIResNet,
           .defaults = {.height = 112, .width = 112, .embedding = 512},
           .build = build_iresnet50},
          {.name = "iresnet100",
           .doc = "improved residual blocks 3-13-30-3, PReLU, FC, batch norm: the usual network of "
                  "CosFace and ArcFace",
           .source = kIResNet,
           .defaults = {.height = 112, .width = 112, .embedding = 512},
           .build = build_iresnet100}};
}

}  // namespace facebench
