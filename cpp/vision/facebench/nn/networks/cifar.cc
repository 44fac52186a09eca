#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

// Networks for images of 32 x 32, as in CIFAR-10.
namespace facebench {
namespace {

// Two 3x3 convolutions. Where the width doubles, the shortcut takes every second pixel and fills
// the new channels with zeros (option A).
Value basic_block(Graph& g, const std::string& name, Value x, std::int64_t width) {
  const std::int64_t stride = g.shape(x)[0] == width ? 1 : 2;
  Value y = g.conv(name + ".conv1", x, {.out = width, .kernel = 3, .stride = stride, .padding = 1});
  y = g.relu(g.batch_norm(name + ".bn1", y));
  y = g.conv(name + ".conv2", y, {.out = width, .kernel = 3, .padding = 1});
  y = g.batch_norm(name + ".bn2", y);
  if (stride == 2) {
    x = g.max_pool(x, {.kernel = 1, .stride = 2});
    x = g.concat({x, g.scale(x, 0)});
  }
  return g.relu(g.add(y, x));
}

// 6 `blocks` + 2 layers: three stages of 16, 32 and 64 channels.
void cifar_resnet(Graph& g, Value x, const NetworkOptions& o, int blocks) {
  x = g.relu(g.batch_norm("bn1", g.conv("conv1", x, {.out = 16, .kernel = 3, .padding = 1})));
  for (int stage = 0; stage < 3; ++stage)
    for (int b = 0; b < blocks; ++b)
      x = basic_block(g, "layer" + std::to_string(stage + 1) + "." + std::to_string(b), x,
                      16 << stage);
  x = tap_embedding(g, g.flatten(g.global_avg_pool(x)), o);
  tap_logits(g, "fc", x, o);
}

}  // namespace

static void build_resnet20_cifar(Graph& g, Value x, const NetworkOptions& o) {
  cifar_resnet(g, x, o, 3);
}
static void build_resnet56_cifar(Graph& g, Value x, const NetworkOptions& o) {
  cifar_resnet(g, x, o, 9);
}

// cuda-convnet's layers without its response normalisation.
static void build_alexnet_r(Graph& g, Value x, const NetworkOptions& o) {
  const PoolOptions pool{.kernel = 3, .stride = 2};
  x = g.conv("conv1", x, {.out = 32, .kernel = 5, .padding = 2, .bias = true});
  x = g.relu(g.max_pool(x, pool));
  x = g.max_pool(conv_relu(g, "conv2", x, {.out = 32, .kernel = 5, .padding = 2}), pool);
  x = g.avg_pool(conv_relu(g, "conv3", x, {.out = 64, .kernel = 5, .padding = 2}), pool);
  x = tap_embedding(g, g.flatten(x), o);
  tap_logits(g, "fc1", x, o);
}

// The network of TensorFlow's tutorial: two response norms, before and behind the pooling, two
// hidden layers. TensorFlow's alpha of 0.001 / 9 is not divided by the 9 channels again.
static void build_cifar10_tensorflow(Graph& g, Value x, const NetworkOptions& o) {
  const LrnOptions norm{.size = 9, .alpha = 0.001};
  const auto pool = [&](Value v) {
    return g.max_pool(v, {.kernel = 3, .stride = 2, .padding = same_padding(g.shape(v), 3, 2)});
  };
  x = conv_relu(g, "conv1", x, {.out = 64, .kernel = 5, .padding = 2});
  x = g.lrn(pool(x), norm);
  x = conv_relu(g, "conv2", x, {.out = 64, .kernel = 5, .padding = 2});
  x = pool(g.lrn(x, norm));
  x = g.relu(g.linear("local3", g.flatten(x), {.out = 384}));
  x = g.relu(g.linear("local4", x, {.out = *o.embedding}));
  g.tap("embedding", x);
  tap_logits(g, "softmax_linear", x, o);
}

// Caffe's "quick" example: the first pooling before its ReLU, the others average, nothing between
// the two fully connected layers.
static void build_cifar10_caffe(Graph& g, Value x, const NetworkOptions& o) {
  const PoolOptions pool{.kernel = 3, .stride = 2, .ceil_mode = true};
  x = g.conv("conv1", x, {.out = 32, .kernel = 5, .padding = 2, .bias = true});
  x = g.relu(g.max_pool(x, pool));
  x = g.avg_pool(conv_relu(g, "conv2", x, {.out = 32, .kernel = 5, .padding = 2}), pool);
  x = g.avg_pool(conv_relu(g, "conv3", x, {.out = 64, .kernel = 5, .padding = 2}), pool);
  x = g.linear("ip1", g.flatten(x), {.out = *o.embedding});
  g.tap("embedding", x);
  tap_logits(g, "ip2", x, o);
}

// Torch's demo, with convolutions that see all of their inputs.
static void build_cifar10_torch(Graph& g, Value x, const NetworkOptions& o) {
  x = g.max_pool(g.tanh(g.conv("conv1", x, {.out = 16, .kernel = 5, .bias = true})), {});
  x = g.max_pool(g.tanh(g.conv("conv2", x, {.out = 256, .kernel = 5, .bias = true})), {});
  x = g.tanh(g.linear("fc1", g.flatten(x), {.out = *o.embedding}));
  g.tap("embedding", x);
  tap_logits(g, "fc2", x, o);
}

// The tutorial in Theano that Wu et al. took: a few narrow filters.
static void build_cifar10_theano(Graph& g, Value x, const NetworkOptions& o) {
  x = g.max_pool(conv_relu(g, "conv1", x, {.out = 4, .kernel = 3}), {.kernel = 3, .stride = 3});
  x = g.max_pool(conv_relu(g, "conv2", x, {.out = 8, .kernel = 3}), {});
  x = g.relu(g.linear("fc1", g.flatten(x), {.out = *o.embedding}));
  g.tap("embedding", x);
  tap_logits(g, "fc2", x, o);
}

std::vector<NetworkEntry> cifar_networks() {
  constexpr const char* kResNet =
      "He et al., \"Deep residual learning for image recognition\", CVPR 2016, section 4.2";
  return {
      {.name = "resnet20_cifar",
       .doc = "20 layers for small images, shortcuts without weights; pooled features",
       .source = kResNet,
       .defaults = {.height = 32, .width = 32, .embedding = 64},
       .build = build_resnet20_cifar},
      {.name = "resnet56_cifar",
       .doc = "56 layers for small images, shortcuts without weights; pooled features",
       .source = kResNet,
       .defaults = {.height = 32, .width = 32, .embedding = 64},
       .build = build_resnet56_cifar},
      {.name = "alexnet_r",
       .doc = "three 5x5 convolutions, for measuring time; features of the last pooling",
       .source = "Shi et al., \"Benchmarking state-of-the-art deep learning software tools\", "
                 "2016, table 3: AlexNet-R; the authors' dlbench, tools/torch/Models/alexnet.lua",
       .defaults = {.height = 32, .width = 32, .embedding = 576},
       .build = build_alexnet_r},
      {.name = "cifar10_tensorflow",
       .doc =
           "two 5x5 convolutions of 64 with response norms, two hidden layers; local4 behind its "
           "ReLU",
       .source = "TensorFlow's tutorial on convolutional neural networks, "
                 "tensorflow/models, tutorials/image/cifar10; Wu et al. 2018, table V",
       .defaults = {.height = 24, .width = 24, .embedding = 192},
       .build = build_cifar10_tensorflow},
      {.name = "cifar10_caffe",
       .doc = "three 5x5 convolutions of 32, 32 and 64, two averaged poolings; ip1, without a ReLU",
       .source = "BVLC/caffe, examples/cifar10/cifar10_quick_train_test.prototxt; Wu et al. 2018, "
                 "table V",
       .defaults = {.height = 32, .width = 32, .embedding = 64},
       .build = build_cifar10_caffe},
      {.name = "cifar10_torch",
       .doc = "two 5x5 convolutions of 16 and 256 with tanh; fc1 behind its tanh",
       .source = "torch/demos, train-on-cifar; Wu et al. 2018, table V",
       .defaults = {.height = 32, .width = 32, .embedding = 128},
       .build = build_cifar10_torch},
      {.name = "cifar10_theano",
       .doc = "two 3x3 convolutions of 4 and 8; fc1 behind its ReLU",
       .source = "Dieleman, benanne/theano-tutorial, 6_convnet_color.py; Wu et al. 2018, table V",
       .defaults = {.height = 32, .width = 32, .embedding = 100},
       .build = build_cifar10_theano}};
}

}  // namespace facebench
