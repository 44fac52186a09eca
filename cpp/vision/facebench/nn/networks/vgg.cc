#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

// Five stages of 3x3 convolutions, each closed by a pool. The layers are numbered as in
// torchvision's list, activations and pools included.
void vgg16(Graph& g, Value x, const NetworkOptions& o, bool batch_norm) {
  struct Stage {
    std::int64_t width;
    int layers;
  };
  constexpr Stage stages[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};
  int index = 0;
  const auto next = [&] { return "features." + std::to_string(index++); };
  for (const Stage& stage : stages) {
    for (int i = 0; i < stage.layers; ++i) {
      x = g.conv(next(), x, {.out = stage.width, .kernel = 3, .padding = 1, .bias = true});
      if (batch_norm) x = g.batch_norm(next(), x);
      x = g.relu(x);
      ++index;
    }
    x = g.max_pool(x, {.kernel = 2, .stride = 2});
    ++index;
  }
  x = g.flatten(g.adaptive_avg_pool(x, 7));
  classifier_of_two_hidden_layers(
      g, x, {.fc6 = "classifier.0", .fc7 = "classifier.3", .classifier = "classifier.6"}, o);
}

}  // namespace

static void build_vgg16(Graph& g, Value x, const NetworkOptions& o) { vgg16(g, x, o, false); }
static void build_vgg16_bn(Graph& g, Value x, const NetworkOptions& o) { vgg16(g, x, o, true); }

std::vector<NetworkEntry> vgg_networks() {
  constexpr const char* kVgg =
      "Simonyan & Zisserman, \"Very deep convolutional networks for large-scale image "
      "recognition\", "
      "ICLR 2015, table 1, D";
  return {{.name = "vgg16",
           .doc = "13 convolutions of 3x3, two hidden layers, torchvision's; fc7 behind its ReLU",
           .source = kVgg,
           .defaults = {.height = 224, .width = 224, .embedding = 4096},
           .build = build_vgg16},
          {.name = "vgg16_bn",
           .doc = "VGG-16 with batch norm, torchvision's; fc7 behind its ReLU",
           .source = kVgg,
           .defaults = {.height = 224, .width = 224, .embedding = 4096},
           .build = build_vgg16_bn}};
}

}  // namespace facebench
