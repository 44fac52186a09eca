#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

// A convolution of twice the width and the larger of its halves. Names are those of the authors'
// PyTorch code.
Value mfm_conv(Graph& g, const std::string& name, Value x, std::int64_t out, std::int64_t kernel) {
  return g.mfm(g.conv(name + ".filter", x,
                      {.out = 2 * out, .kernel = kernel, .padding = kernel / 2, .bias = true}));
}

Value group(Graph& g, const std::string& name, Value x, std::int64_t out) {
  x = mfm_conv(g, name + ".conv_a", x, g.shape(x)[0], 1);
  return mfm_conv(g, name + ".conv", x, out, 3);
}

Value residual_blocks(Graph& g, const std::string& name, Value x, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string n = name + "." + std::to_string(i);
    const std::int64_t width = g.shape(x)[0];
    const Value inner = mfm_conv(g, n + ".conv1", x, width, 3);
    x = g.add(mfm_conv(g, n + ".conv2", inner, width, 3), x);
  }
  return x;
}

Value pool(Graph& g, Value x) {
  return g.max_pool(x, {.kernel = 2, .stride = 2, .ceil_mode = true});
}

void finish(Graph& g, const std::string& name, Value x, const NetworkOptions& o) {
  x = g.mfm(g.linear(name + ".filter", g.flatten(x), {.out = 2 * *o.embedding}));
  g.tap("embedding", x);
  tap_logits(g, "fc2", x, o, /*dropout=*/0.7);
}

}  // namespace

static void build_lightcnn9(Graph& g, Value x, const NetworkOptions& o) {
  x = pool(g, mfm_conv(g, "features.0", x, 48, 5));
  x = pool(g, group(g, "features.2", x, 96));
  x = pool(g, group(g, "features.4", x, 192));
  x = group(g, "features.6", x, 128);
  x = pool(g, group(g, "features.7", x, 128));
  finish(g, "fc1", x, o);
}

static void build_lightcnn29(Graph& g, Value x, const NetworkOptions& o) {
  x = pool(g, mfm_conv(g, "conv1", x, 48, 5));
  x = pool(g, group(g, "group1", residual_blocks(g, "block1", x, 1), 96));
  x = pool(g, group(g, "group2", residual_blocks(g, "block2", x, 2), 192));
  x = group(g, "group3", residual_blocks(g, "block3", x, 3), 128);
  x = pool(g, group(g, "group4", residual_blocks(g, "block4", x, 4), 128));
  finish(g, "fc", x, o);
}

std::vector<NetworkEntry> lightcnn_networks() {
  constexpr const char* kLightCnn =
      "Wu et al., \"A light CNN for deep face representation with noisy labels\", IEEE TIFS 2018";
  return {{.name = "lightcnn9",
           .doc = "nine max-feature-map layers; 256 values",
           .source = kLightCnn,
           .defaults = {.height = 128, .width = 128, .embedding = 256},
           .build = build_lightcnn9},
          {.name = "lightcnn29",
           .doc = "29 max-feature-map layers with 1-2-3-4 residual blocks; 256 values",
           .source = kLightCnn,
           .defaults = {.height = 128, .width = 128, .embedding = 256},
           .build = build_lightcnn29}};
}

}  // namespace facebench
