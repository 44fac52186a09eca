#include <fmt/format.h>
#include <fmt/ranges.h>

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

void iresnet(Graph& g, Value x, const NetworkOptions& o, const std::array<int, 4>& blocks) {
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
}

template <int... kBlocks>
NetworkEntry iresnet_of(const char* name) {
  return {
      .name = name,
      .doc = fmt::format("improved residual blocks {}, PReLU, FC, batch norm: the usual network "
                         "of CosFace and ArcFace",
                         fmt::join(std::array{kBlocks...}, "-")),
      .source =
          "Deng et al., \"ArcFace\", CVPR 2019, section 3.1; insightface's PyTorch "
          "networks",
      .defaults = {.height = 112, .width = 112, .embedding = 512},
      .build = [](Graph& g, Value x, const NetworkOptions& o) { iresnet(g, x, o, {kBlocks...}); }};
}

}  // namespace

std::vector<NetworkEntry> iresnet_networks() {
  return {iresnet_of<2, 2, 2, 2>("iresnet18"), iresnet_of<3, 4, 6, 3>("iresnet34"),
          iresnet_of<3, 4, 14, 3>("iresnet50"), iresnet_of<3, 13, 30, 3>("iresnet100")};
}

}  // namespace facebench
