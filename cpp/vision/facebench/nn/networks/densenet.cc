#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

constexpr std::int64_t kGrowth = 32;

// Each layer reads everything before it in its block: norm, ReLU, 1x1 to 128; norm, ReLU, 3x3.
Value dense_block(Graph& g, const std::string& name, Value x, int layers) {
  std::vector<Value> features{x};
  for (int i = 1; i <= layers; ++i) {
    const std::string n = name + ".denselayer" + std::to_string(i);
    const Value all = features.size() == 1 ? x : g.concat(features);
    Value y = g.relu(g.batch_norm(n + ".norm1", all));
    y = g.conv(n + ".conv1", y, {.out = 4 * kGrowth});
    y = g.relu(g.batch_norm(n + ".norm2", y));
    features.push_back(g.conv(n + ".conv2", y, {.out = kGrowth, .kernel = 3, .padding = 1}));
  }
  return g.concat(features);
}

// Half the channels, half the side.
Value transition(Graph& g, const std::string& name, Value x) {
  x = g.relu(g.batch_norm(name + ".norm", x));
  x = g.conv(name + ".conv", x, {.out = g.shape(x)[0] / 2});
  return g.avg_pool(x, {.kernel = 2, .stride = 2});
}

}  // namespace

static void build_densenet121(Graph& g, Value x, const NetworkOptions& o) {
  constexpr int blocks[] = {6, 12, 24, 16};
  x = g.conv("features.conv0", x, {.out = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = g.relu(g.batch_norm("features.norm0", x));
  x = g.max_pool(x, {.kernel = 3, .stride = 2, .padding = 1});
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i + 1);
    if (i > 0) x = transition(g, "features.transition" + std::to_string(i), x);
    x = dense_block(g, "features.denseblock" + n, x, blocks[i]);
  }
  x = g.relu(g.batch_norm("features.norm5", x));
  x = tap_embedding(g, g.flatten(g.global_avg_pool(x)), o);
  tap_logits(g, "classifier", x, o);
}

std::vector<NetworkEntry> densenet_networks() {
  return {
      {.name = "densenet121",
       .doc = "each layer reads all before it, growth 32, torchvision's; pooled features",
       .source = "Huang et al., \"Densely connected convolutional networks\", CVPR 2017, table 1",
       .defaults = {.height = 224, .width = 224, .embedding = 1024},
       .build = build_densenet121}};
}

}  // namespace facebench
