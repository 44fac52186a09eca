#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "facebench/nn/networks.h"

namespace facebench {

static void build_small4(Graph& g, Value x, const NetworkOptions& o) {
  const int widths[] = {32, 64, 128, 256};
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i + 1);
    const std::int64_t out =
        std::max<std::int64_t>(1, std::lround(widths[i] * o.channel_multiplier));
    x = g.conv("conv" + n, x, {.out = out, .kernel = 3, .stride = 2, .padding = 1});
    x = g.prelu("prelu" + n, g.batch_norm("bn" + n, x));
  }
  x = g.linear("fc", g.flatten(x), {.out = *o.embedding, .bias = false});
  x = g.batch_norm("bn_fc", x);
  g.tap("embedding", x);
  if (o.classes > 0) g.tap("logits", g.linear("classifier", x, {.out = o.classes, .bias = false}));
}

std::vector<NetworkEntry> small4_networks() {
  return {
      {.name = "small4",
       .doc = "four stride-2 convolutions 32-64-128-256, BN, PReLU: trains on a CPU in a minute",
       .source = "this project; the depth of SphereFace-4",
       .defaults = {.height = 64, .width = 64, .embedding = 128},
       .scalable = true,
       .build = build_small4}};
}

}  // namespace facebench
