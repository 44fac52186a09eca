#include <cstddef>
#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

// Fully connected layers of these widths, then one as wide as the embedding; sigmoids between them.
void fully_connected(Graph& g, Value x, const NetworkOptions& o, std::vector<std::int64_t> widths) {
  widths.push_back(*o.embedding);
  x = g.flatten(x);
  for (std::size_t i = 0; i < widths.size(); ++i)
    x = g.sigmoid(g.linear("fc" + std::to_string(i + 1), x, {.out = widths[i]}));
  g.tap("embedding", x);
  tap_logits(g, "classifier", x, o);
}

template <int... kWidths>
void build_fcn(Graph& g, Value x, const NetworkOptions& o) {
  fully_connected(g, x, o, {kWidths...});
}

}  // namespace

std::vector<NetworkEntry> fcn_networks() {
  return {{.name = "fcn_s",
           .doc = "four fully connected layers of 2,048, for measuring time; the authors' 26,752 "
                  "inputs with channels=1, their outputs with classes=26752",
           .source = "Shi et al., \"Benchmarking state-of-the-art deep learning software tools\", "
                     "2016, table 2: FCN-S; sigmoids: the authors' dlbench, tools/caffe/fc",
           .defaults = {.height = 152, .width = 176, .embedding = 2048},
           .build = build_fcn<2048, 2048, 2048>},
          {.name = "fcn_r",
           .doc = "fully connected layers of 2,048, 4,096 and 1,024 for digits (channels=1)",
           .source = "Shi et al., 2016, table 3: FCN-R; sigmoids: the authors' dlbench, "
                     "tools/torch/Models/ffn5.lua",
           .defaults = {.height = 28, .width = 28, .embedding = 1024},
           .build = build_fcn<2048, 4096>}};
}

}  // namespace facebench
