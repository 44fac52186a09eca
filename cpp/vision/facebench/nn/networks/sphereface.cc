#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <vector>

#include "facebench/nn/networks.h"

namespace facebench {
namespace {

// Four stages of one stride-2 convolution and `blocks[i]` residual blocks of two convolutions each,
// every convolution with a bias and a PReLU. Layer names are those of the authors' prototxt.
void sphereface(Graph& g, Value x, const NetworkOptions& o, const std::array<int, 4>& blocks) {
  for (int i = 0; i < 4; ++i) {
    const std::int64_t width = 64 << i;
    int layer = 0;
    const auto conv = [&](Value in, std::int64_t stride) {
      const std::string n = std::to_string(i + 1) + "_" + std::to_string(++layer);
      Value y = g.conv("conv" + n, in,
                       {.out = width, .kernel = 3, .stride = stride, .padding = 1, .bias = true});
      return g.prelu("relu" + n, y);
    };
    x = conv(x, 2);
    for (int b = 0; b < blocks[static_cast<std::size_t>(i)]; ++b) {
      const Value inner = conv(x, 1);
      x = g.add(x, conv(inner, 1));
    }
  }
  x = g.linear("fc5", g.flatten(x), {.out = *o.embedding});
  g.tap("embedding", x);
  if (o.classes > 0) g.tap("logits", g.linear("fc6", x, {.out = o.classes, .bias = false}));
}

template <int... kBlocks>
NetworkEntry sphereface_of(const char* name) {
  return {.name = name,
          .doc = fmt::format("SphereFace-4 with {} residual blocks",
                             fmt::join(std::array{kBlocks...}, "-")),
          .source =
              "Liu et al., \"SphereFace: deep hypersphere embedding for face recognition\", "
              "CVPR 2017, table 2",
          .defaults = {.height = 112, .width = 96, .embedding = 512},
          .build = [](Graph& g, Value x, const NetworkOptions& o) {
            sphereface(g, x, o, {kBlocks...});
          }};
}

}  // namespace

std::vector<NetworkEntry> sphereface_networks() {
  NetworkEntry plain = sphereface_of<0, 0, 0, 0>("sphereface4");
  plain.doc = "four stride-2 convolutions 64-128-256-512, PReLU, FC";
  return {plain, sphereface_of<0, 1, 2, 0>("sphereface10"),
          sphereface_of<1, 2, 4, 1>("sphereface20"), sphereface_of<2, 4, 8, 2>("sphereface36"),
          sphereface_of<3, 8, 16, 3>("sphereface64")};
}

}  // namespace facebench
