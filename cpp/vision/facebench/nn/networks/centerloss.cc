#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

Value conv_prelu(Graph& g, const std::string& number, Value x, const ConvOptions& o) {
  return g.prelu("relu" + number, g.conv("conv" + number, x, o));
}

}  // namespace

// Unpadded convolutions that widen, each with a pool and residual blocks of two bias-free
// convolutions behind it. Layer names are those of the authors' prototxt.
static void build_centerloss(Graph& g, Value x, const NetworkOptions& o) {
  constexpr int blocks[] = {1, 2, 5, 3};
  x = conv_prelu(g, "1a", x, {.out = 32, .kernel = 3, .bias = true});
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t width = 64 << stage;
    const std::string widening = stage == 0 ? "1b" : std::to_string(stage + 1);
    x = conv_prelu(g, widening, x, {.out = width, .kernel = 3, .bias = true});
    x = g.max_pool(x, {.kernel = 2, .stride = 2, .ceil_mode = true});
    for (int layer = 0; layer < 2 * blocks[stage]; layer += 2) {
      const std::string prefix = std::to_string(stage + 2) + "_";
      const ConvOptions same{.out = width, .kernel = 3, .padding = 1};
      Value y = conv_prelu(g, prefix + std::to_string(layer + 1), x, same);
      y = conv_prelu(g, prefix + std::to_string(layer + 2), y, same);
      x = g.add(x, y);
    }
  }
  x = g.linear("fc5", g.flatten(x), {.out = *o.embedding});
  g.tap("embedding", x);
  tap_logits(g, "fc6", x, o, /*dropout=*/0, /*bias=*/false);
}

std::vector<NetworkEntry> centerloss_networks() {
  return {{.name = "centerloss",
           .doc = "1-2-5-3 residual blocks behind unpadded convolutions, PReLU, FC; 512 values",
           .source = "Wen et al., \"A discriminative feature learning approach for deep face "
                     "recognition\", ECCV 2016; the authors' prototxt",
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_centerloss}};
}

}  // namespace facebench
