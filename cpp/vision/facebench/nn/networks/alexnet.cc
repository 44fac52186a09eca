#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {

// Krizhevsky's network of 2012 as the BVLC prototxt has it: two groups, LRN before pooling.
static void build_alexnet_v1(Graph& g, Value x, const NetworkOptions& o) {
  const auto pool = [&](Value v) {
    return g.max_pool(v, {.kernel = 3, .stride = 2, .ceil_mode = true});
  };
  x = conv_relu(g, "conv1", x, {.out = 96, .kernel = 11, .stride = 4});
  x = pool(g.lrn(x));
  x = conv_relu(g, "conv2", x, {.out = 256, .kernel = 5, .padding = 2, .groups = 2});
  x = pool(g.lrn(x));
  x = conv_relu(g, "conv3", x, {.out = 384, .kernel = 3, .padding = 1});
  x = conv_relu(g, "conv4", x, {.out = 384, .kernel = 3, .padding = 1, .groups = 2});
  x = conv_relu(g, "conv5", x, {.out = 256, .kernel = 3, .padding = 1, .groups = 2});
  classifier_of_two_hidden_layers(g, g.flatten(pool(x)),
                                  {.fc6 = "fc6", .fc7 = "fc7", .classifier = "fc8"}, o);
}

// "One weird trick": one column, no LRN; torchvision's layers, any input size through its pooling.
static void alexnet_v2(Graph& g, Value x, const NetworkOptions& o, double dropout) {
  const auto pool = [&](Value v) { return g.max_pool(v, {.kernel = 3, .stride = 2}); };
  x = conv_relu(g, "features.0", x, {.out = 64, .kernel = 11, .stride = 4, .padding = 2});
  x = conv_relu(g, "features.3", pool(x), {.out = 192, .kernel = 5, .padding = 2});
  x = conv_relu(g, "features.6", pool(x), {.out = 384, .kernel = 3, .padding = 1});
  x = conv_relu(g, "features.8", x, {.out = 256, .kernel = 3, .padding = 1});
  x = conv_relu(g, "features.10", x, {.out = 256, .kernel = 3, .padding = 1});
  x = g.flatten(g.adaptive_avg_pool(pool(x), 6));
  classifier_of_two_hidden_layers(g, x,
                                  {.fc6 = "classifier.1",
                                   .fc7 = "classifier.4",
                                   .classifier = "classifier.6",
                                   .dropout_first = true,
                                   .dropout = dropout},
                                  o);
}
static void build_alexnet_v2(Graph& g, Value x, const NetworkOptions& o) {
  alexnet_v2(g, x, o, 0.5);
}
static void build_alexnet_s(Graph& g, Value x, const NetworkOptions& o) { alexnet_v2(g, x, o, 0); }

// The same in slim: conv4 of 384, no padding where it is "VALID" there, fully connected layers as
// convolutions (the weights are the same numbers).
static void build_alexnet_v2_slim(Graph& g, Value x, const NetworkOptions& o) {
  const auto pool = [&](Value v) { return g.max_pool(v, {.kernel = 3, .stride = 2}); };
  x = conv_relu(g, "conv1", x, {.out = 64, .kernel = 11, .stride = 4});
  x = conv_relu(g, "conv2", pool(x), {.out = 192, .kernel = 5, .padding = 2});
  x = conv_relu(g, "conv3", pool(x), {.out = 384, .kernel = 3, .padding = 1});
  x = conv_relu(g, "conv4", x, {.out = 384, .kernel = 3, .padding = 1});
  x = conv_relu(g, "conv5", x, {.out = 256, .kernel = 3, .padding = 1});
  classifier_of_two_hidden_layers(g, g.flatten(pool(x)),
                                  {.fc6 = "fc6", .fc7 = "fc7", .classifier = "fc8"}, o);
}

std::vector<NetworkEntry> alexnet_networks() {
  constexpr const char* kAlexNetV2 =
      "Krizhevsky, \"One weird trick for parallelizing convolutional neural networks\", 2014";
  return {{.name = "alexnet_v1",
           .doc = "AlexNet of 2012: two groups, LRN; fc7 behind its ReLU",
           .source = "Krizhevsky et al., \"ImageNet classification with deep convolutional neural "
                     "networks\", NIPS 2012; Caffe's BVLC prototxt",
           .defaults = {.height = 227, .width = 227, .embedding = 4096},
           .build = build_alexnet_v1},
          {.name = "alexnet_v2",
           .doc = "AlexNet of one column, torchvision's alexnet; fc7 behind its ReLU",
           .source = kAlexNetV2,
           .defaults = {.height = 224, .width = 224, .embedding = 4096},
           .build = build_alexnet_v2},
          {.name = "alexnet_s",
           .doc = "alexnet_v2 without dropout, for measuring time; fc7 behind its ReLU",
           .source = "Shi et al., \"Benchmarking state-of-the-art deep learning software tools\", "
                     "2016, table 2: AlexNet-S",
           .defaults = {.height = 224, .width = 224, .embedding = 4096},
           .build = build_alexnet_s},
          {.name = "alexnet_v2_slim",
           .doc = "TensorFlow slim's alexnet_v2: conv4 of 384, no padding at both ends; fc7 behind "
                  "its ReLU",
           .source = kAlexNetV2,
           .defaults = {.height = 224, .width = 224, .embedding = 4096},
           .build = build_alexnet_v2_slim}};
}

}  // namespace facebench
