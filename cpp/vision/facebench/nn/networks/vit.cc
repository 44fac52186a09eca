#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

constexpr std::int64_t kPatch = 9, kWidth = 512, kHeads = 8;
// Of the last block; it grows from 0 along the blocks.
constexpr double kDropPath = 0.05;
constexpr double kLastEps = 2e-5;

// Attention and two layers of four times the width, each behind a norm and beside a shortcut. Names
// are insightface's.
Value block(Graph& g, const std::string& name, Value x, double drop_path) {
  const std::int64_t width = g.shape(x)[1];
  Value y = g.layer_norm(name + ".norm1", x);
  y = g.linear(name + ".attn.qkv", y, {.out = 3 * width, .bias = false});
  y = g.linear(name + ".attn.proj", g.attention(y, {.heads = kHeads}), {.out = width});
  x = g.add(x, g.drop_path(y, drop_path));
  y = g.layer_norm(name + ".norm2", x);
  y = g.relu6(g.linear(name + ".mlp.fc1", y, {.out = 4 * width}));
  y = g.linear(name + ".mlp.fc2", y, {.out = width});
  return g.add(x, g.drop_path(y, drop_path));
}

// Patches that do not overlap, without a class token: the embedding is made of all tokens.
void vit(Graph& g, Value x, const NetworkOptions& o, int blocks) {
  x = g.conv("patch_embed.proj", x,
             {.out = kWidth, .kernel = kPatch, .stride = kPatch, .bias = true});
  x = g.positions("pos_embed", g.tokens(x));
  for (int b = 0; b < blocks; ++b)
    x = block(g, "blocks." + std::to_string(b), x, kDropPath * b / (blocks - 1));
  x = g.flatten(g.layer_norm("norm", x));
  x = g.linear("feature.0", x, {.out = kWidth, .bias = false});
  x = g.batch_norm("feature.1", x, {.eps = kLastEps});
  x = g.linear("feature.2", x, {.out = *o.embedding, .bias = false});
  x = g.batch_norm("feature.3", x, {.eps = kLastEps});
  g.tap("embedding", x);
  tap_logits(g, "classifier", x, o, /*dropout=*/0, /*bias=*/false);
}

}  // namespace

static void build_vit_s(Graph& g, Value x, const NetworkOptions& o) { vit(g, x, o, 12); }
static void build_vit_b(Graph& g, Value x, const NetworkOptions& o) { vit(g, x, o, 24); }

std::vector<NetworkEntry> vit_networks() {
  constexpr const char* kSource =
      "Dosovitskiy et al., \"An image is worth 16x16 words\", ICLR 2021; insightface's "
      "arcface_torch, backbones/vit.py, as for WebFace42M";
  return {{.name = "vit_s",
           .doc = "vision transformer of 12 blocks, width 512, 8 heads, patches of 9x9, no class "
                  "token; ReLU6, stochastic depth of .05",
           .source = kSource,
           .defaults = {.height = 112, .width = 112, .embedding = 512},
           .build = build_vit_s},
          {.name = "vit_b",
           .doc = "vision transformer of 24 blocks, width 512, 8 heads, patches of 9x9, no class "
                  "token; ReLU6, stochastic depth of .05",
           .source = kSource,
           .defaults = {.height = 112, .width = 112, .embedding = 512},
           .build = build_vit_b}};
}

}  // namespace facebench
