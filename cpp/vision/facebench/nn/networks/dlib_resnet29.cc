#include <string>

#include "facebench/nn/networks.h"

namespace facebench {
namespace {

// Two 3x3 convolutions; the first halves the image, or keeps it. The shortcut has no weights: means
// of 2x2 where it halves, and zeros for the channels that are new. The convolutions do not pad
// where they halve, so 8 pixels become 3 and 4 become 1, but 4 and 2 in the shortcut: the smaller
// image gets zeros at the right and below.
Value dlib_block(Graph& g, const std::string& name, Value x, std::int64_t width, bool halves) {
  Value y =
      g.conv(name + ".conv1", x,
             {.out = width, .kernel = 3, .stride = halves ? 2 : 1, .padding = halves ? 0 : 1});
  y = g.relu(g.batch_norm(name + ".bn1", y, {.eps = 1e-4}));
  y = g.conv(name + ".conv2", y, {.out = width, .kernel = 3, .padding = 1});
  y = g.batch_norm(name + ".bn2", y, {.eps = 1e-4});
  if (halves) x = g.avg_pool(x, {});
  if (g.shape(x)[0] < width) x = g.concat({x, g.scale(x, 0)});
  const Shape &main = g.shape(y), &shortcut = g.shape(x);
  if (main != shortcut)
    y = g.avg_pool(y, {.kernel = 1,
                       .stride = 1,
                       .padding = {0, 0, shortcut[1] - main[1], shortcut[2] - main[2]}});
  return g.relu(g.add(y, x));
}

struct DlibStage {
  std::int64_t width;
  int blocks;
};
constexpr DlibStage kDlibStages[] = {{32, 3}, {64, 4}, {128, 3}, {256, 3}, {256, 1}};

}  // namespace

static void build_dlib_resnet29(Graph& g, Value x, const NetworkOptions& o) {
  x = g.conv("conv1", x, {.out = 32, .kernel = 7, .stride = 2});
  x = g.relu(g.batch_norm("bn1", x, {.eps = 1e-4}));
  x = g.max_pool(x, {.kernel = 3, .stride = 2});
  int index = 1;
  for (const DlibStage& stage : kDlibStages) {
    for (int b = 0; b < stage.blocks; ++b)
      x = dlib_block(g, "layer" + std::to_string(index) + "." + std::to_string(b), x, stage.width,
                     index > 1 && b == 0);
    ++index;
  }
  x = g.flatten(g.global_avg_pool(x));
  x = g.linear("fc", x, {.out = *o.embedding, .bias = false});
  g.tap("embedding", x);
  if (o.classes > 0) g.tap("logits", g.linear("classifier", x, {.out = o.classes}));
}

std::vector<NetworkEntry> dlib_resnet29_networks() {
  return {{.name = "dlib_resnet29",
           .doc = "dlib's face network: 29 layers of half of ResNet-34's filters; 128 values",
           .source = "King, dlib 19, dnn_face_recognition_ex.cpp; He et al., \"Deep residual "
                     "learning for image recognition\", CVPR 2016",
           .defaults = {.height = 150, .width = 150, .embedding = 128},
           .build = build_dlib_resnet29}};
}

}  // namespace facebench
