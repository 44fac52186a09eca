#include <string>
#include <vector>

#include "facebench/nn/networks.h"

namespace facebench {
namespace {

// Expansion (1x1), depthwise 3x3, linear projection (1x1); a shortcut where the shape stays.
Value bottleneck(Graph& g, const std::string& name, Value x, std::int64_t hidden, std::int64_t out,
                 std::int64_t stride) {
  Value y = g.conv(name + ".conv.0.0", x, {.out = hidden});
  y = g.relu6(g.batch_norm(name + ".conv.0.1", y));
  y = g.conv(name + ".conv.1.0", y,
             {.out = hidden, .kernel = 3, .stride = stride, .padding = 1, .groups = hidden});
  y = g.relu6(g.batch_norm(name + ".conv.1.1", y));
  y = g.conv(name + ".conv.2", y, {.out = out});
  y = g.batch_norm(name + ".conv.3", y);
  return g.shape(y) == g.shape(x) ? g.add(x, y) : y;
}

struct BottleneckStage {
  std::int64_t expansion, out, blocks, stride;
};
constexpr BottleneckStage kStages[] = {
    {2, 64, 5, 2}, {4, 128, 1, 2}, {2, 128, 6, 1}, {4, 128, 1, 2}, {2, 128, 2, 1}};

}  // namespace

static void build_mobilefacenet(Graph& g, Value x, const NetworkOptions& o) {
  x = g.conv("conv1.0", x, {.out = 64, .kernel = 3, .stride = 2, .padding = 1});
  x = g.relu6(g.batch_norm("conv1.1", x));
  x = g.conv("dw_conv.depthwise", x, {.out = 64, .kernel = 3, .padding = 1, .groups = 64});
  x = g.relu(g.batch_norm("dw_conv.bn1", x));
  x = g.conv("dw_conv.pointwise", x, {.out = 64});
  x = g.relu(g.batch_norm("dw_conv.bn2", x));
  int index = 0;
  for (const BottleneckStage& stage : kStages)
    for (std::int64_t b = 0; b < stage.blocks; ++b)
      x = bottleneck(g, "features." + std::to_string(index++), x, stage.expansion * g.shape(x)[0],
                     stage.out, b == 0 ? stage.stride : 1);
  x = g.conv("conv2.0", x, {.out = 512});
  x = g.relu6(g.batch_norm("conv2.1", x));
  x = g.conv("gdconv.depthwise", x,
             {.out = 512, .kernel = {g.shape(x)[1], g.shape(x)[2]}, .groups = 512});
  x = g.batch_norm("gdconv.bn", x);
  x = g.conv("conv3", x, {.out = *o.embedding, .bias = true});
  x = g.flatten(g.batch_norm("bn", x));
  g.tap("embedding", x);
  if (o.classes > 0) g.tap("logits", g.linear("classifier", x, {.out = o.classes, .bias = false}));
}

std::vector<NetworkEntry> mobilefacenet_networks() {
  return {{.name = "mobilefacenet",
           .doc = "inverted residuals, global depthwise convolution, ReLU6; 128 values",
           .source = "Chen et al., \"MobileFaceNets\", CCBR 2018, table 1; widths and activations "
                     "of widely used weights with twice the expansion of the deepest stage and "
                     "ReLU6 in place of PReLU",
           .defaults = {.height = 112, .width = 112, .embedding = 128},
           .build = build_mobilefacenet}};
}

}  // namespace facebench
