#include <array>
#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

// The same layers by different implementations. They place the strides that halve the image
// differently, and pad the first pool differently.
enum class ResNetFlavour {
  torchvision,  // in the 3x3 of a stage's first block; pool padded by 1 at each side
  msra,         // in the first 1x1 of that block, as the paper has it; pool not padded, rounding up
  slim,  // in the 3x3 of the last block of the stage before; pool padded as TensorFlow's SAME
  // For images of 32x32, in Tian's PyTorch: as torchvision, behind a 3x3 without stride and a pool
  // of 2 padded by 1.
  small,
  // In Tian's TensorFlow: in every block of a stage, a pool without stride, SAME, biases.
  small_tensorflow,
};

bool is_small(ResNetFlavour flavour) {
  return flavour == ResNetFlavour::small || flavour == ResNetFlavour::small_tensorflow;
}

Value conv_bn(Graph& g, const std::string& conv, const std::string& norm, Value x, ConvOptions o,
              ResNetFlavour flavour) {
  if (flavour != ResNetFlavour::small_tensorflow) return g.batch_norm(norm, g.conv(conv, x, o));
  o.padding = same_padding(g.shape(x), o.kernel, o.stride);
  o.bias = true;
  return g.batch_norm(norm, g.conv(conv, x, o), {.eps = 1e-3, .momentum = 0.01});
}

// Two 3x3 convolutions (basic), or 1x1, 3x3, 1x1 with four times the width (bottleneck). Where the
// number of channels changes, a projection; where only the size does, slim takes every second
// pixel.
Value block(Graph& g, const std::string& name, Value x, std::int64_t width, std::int64_t stride,
            bool bottleneck, ResNetFlavour flavour) {
  const auto layer = [&](const char* n, Value in, const ConvOptions& o) {
    return conv_bn(g, name + ".conv" + n, name + ".bn" + n, in, o, flavour);
  };
  const bool early = flavour == ResNetFlavour::msra;
  Value y = x;
  if (bottleneck) {
    y = g.relu(layer("1", y, {.out = width, .stride = early ? stride : 1}));
    y = g.relu(
        layer("2", y, {.out = width, .kernel = 3, .stride = early ? 1 : stride, .padding = 1}));
    y = layer("3", y, {.out = 4 * width});
  } else {
    y = g.relu(layer("1", y, {.out = width, .kernel = 3, .stride = stride, .padding = 1}));
    y = layer("2", y, {.out = width, .kernel = 3, .padding = 1});
  }
  const bool widens = g.shape(x)[0] != g.shape(y)[0];
  if (widens || (stride != 1 && flavour != ResNetFlavour::slim)) {
    x = conv_bn(g, name + ".downsample.0", name + ".downsample.1", x,
                {.out = g.shape(y)[0], .stride = stride}, flavour);
  } else if (stride != 1) {
    x = g.max_pool(x, {.kernel = 1, .stride = stride});
  }
  return g.relu(g.add(y, x));
}

Value first_pool(Graph& g, Value x, ResNetFlavour flavour) {
  PoolOptions o{.kernel = 3, .stride = 2, .padding = 1};
  if (flavour == ResNetFlavour::slim) o.padding = same_padding(g.shape(x), o.kernel, o.stride);
  if (flavour == ResNetFlavour::msra) {
    o.padding = 0;
    o.ceil_mode = true;
  }
  if (is_small(flavour)) o.kernel = 2;
  if (flavour == ResNetFlavour::small_tensorflow) {
    o.stride = 1;
    o.padding = same_padding(g.shape(x), o.kernel, o.stride);
  }
  return g.max_pool(x, o);
}

void resnet(Graph& g, Value x, const NetworkOptions& o, const std::array<int, 4>& blocks,
            bool bottleneck, ResNetFlavour flavour) {
  const ConvOptions first = is_small(flavour)
                                ? ConvOptions{.out = 64, .kernel = 3, .padding = 1}
                                : ConvOptions{.out = 64, .kernel = 7, .stride = 2, .padding = 3};
  x = first_pool(g, g.relu(conv_bn(g, "conv1", "bn1", x, first, flavour)), flavour);
  for (int stage = 0; stage < 4; ++stage) {
    const int count = blocks[static_cast<std::size_t>(stage)];
    for (int b = 0; b < count; ++b) {
      const bool halves = flavour == ResNetFlavour::slim               ? stage < 3 && b == count - 1
                          : flavour == ResNetFlavour::small_tensorflow ? stage > 0
                                                                       : stage > 0 && b == 0;
      x = block(g, "layer" + std::to_string(stage + 1) + "." + std::to_string(b), x, 64 << stage,
                halves ? 2 : 1, bottleneck, flavour);
    }
  }
  x = tap_embedding(g, g.flatten(g.global_avg_pool(x)), o);
  tap_logits(g, "fc", x, o);
}

template <ResNetFlavour kFlavour, bool kBottleneck, int... kBlocks>
void build_resnet(Graph& g, Value x, const NetworkOptions& o) {
  resnet(g, x, o, {kBlocks...}, kBottleneck, kFlavour);
}

}  // namespace

std::vector<NetworkEntry> resnet_networks() {
  using enum ResNetFlavour;
  constexpr const char* kResNet =
      "He et al., \"Deep residual learning for image recognition\", CVPR 2016, table 1";
  return {{.name = "resnet18",
           .doc = "residual blocks of two 3x3 convolutions, torchvision's; pooled features",
           .source = kResNet,
           .defaults = {.height = 224, .width = 224, .embedding = 512},
           .build = build_resnet<torchvision, false, 2, 2, 2, 2>},
          {.name = "resnet50",
           .doc = "residual bottlenecks with the stride in the 3x3, torchvision's; pooled features",
           .source = kResNet,
           .defaults = {.height = 224, .width = 224, .embedding = 2048},
           .build = build_resnet<torchvision, true, 3, 4, 6, 3>},
          {.name = "resnet101",
           .doc = "resnet50 with 23 bottlenecks in the third stage, torchvision's; pooled features",
           .source = kResNet,
           .defaults = {.height = 224, .width = 224, .embedding = 2048},
           .build = build_resnet<torchvision, true, 3, 4, 23, 3>},
          {.name = "resnet50_v1",
           .doc = "its authors' in Caffe: the stride in the first 1x1, the first pool not padded; "
                  "pooled features",
           .source = "He et al., CVPR 2016, table 1; the authors' prototxt "
                     "(KaimingHe/deep-residual-networks)",
           .defaults = {.height = 224, .width = 224, .embedding = 2048},
           .build = build_resnet<msra, true, 3, 4, 6, 3>},
          {.name = "resnet50_slim",
           .doc = "TensorFlow slim's resnet_v1_50: the stride in the last block of a stage; pooled "
                  "features",
           .source = "He et al., CVPR 2016, table 1; tensorflow/models, "
                     "research/slim/nets/resnet_v1.py",
           .defaults = {.height = 224, .width = 224, .embedding = 2048},
           .build = build_resnet<slim, true, 3, 4, 6, 3>},
          {.name = "resnet18_small",
           .doc = "resnet18 for small images: a first 3x3 without stride, a pool of 2; pooled "
                  "features",
           .source = "Tian 2020, JinyuJinyuJinyu/MasterProject, resnet_tr.py",
           .defaults = {.height = 32, .width = 32, .embedding = 512},
           .build = build_resnet<small, false, 2, 2, 2, 2>},
          {.name = "resnet18_small_tensorflow",
           .doc = "what Tian calls ResNet-18 in TensorFlow: strides in both blocks of a stage, "
                  "biases; pooled features",
           .source = "Tian 2020, JinyuJinyuJinyu/MasterProject, resnet_tf.py",
           .defaults = {.height = 32, .width = 32, .embedding = 512},
           .build = build_resnet<small_tensorflow, false, 2, 2, 2, 2>}};
}

}  // namespace facebench
