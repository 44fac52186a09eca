#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {

// LeNet-5 as Caffe's example for MNIST has it: ReLU behind the first fully connected layer alone.
static void build_lenet5(Graph& g, Value x, const NetworkOptions& o) {
  const PoolOptions pool{.kernel = 2, .stride = 2, .ceil_mode = true};
  x = g.max_pool(g.conv("conv1", x, {.out = 20, .kernel = 5, .bias = true}), pool);
  x = g.max_pool(g.conv("conv2", x, {.out = 50, .kernel = 5, .bias = true}), pool);
  x = g.relu(g.linear("ip1", g.flatten(x), {.out = *o.embedding}));
  g.tap("embedding", x);
  tap_logits(g, "ip2", x, o);
}

// The same idea in TensorFlow's tutorial "Deep MNIST for experts": wider, ReLU throughout, dropout.
static void build_lenet5_tensorflow(Graph& g, Value x, const NetworkOptions& o) {
  x = g.max_pool(conv_relu(g, "conv1", x, {.out = 32, .kernel = 5, .padding = 2}), {});
  x = g.max_pool(conv_relu(g, "conv2", x, {.out = 64, .kernel = 5, .padding = 2}), {});
  x = g.relu(g.linear("fc1", g.flatten(x), {.out = *o.embedding}));
  g.tap("embedding", x);
  tap_logits(g, "fc2", x, o, 0.5);
}

// Torch's demo: tanh, and a first pooling of 3x3; digits in 32 x 32.
static void build_lenet5_torch(Graph& g, Value x, const NetworkOptions& o) {
  x = g.tanh(g.conv("conv1", x, {.out = 32, .kernel = 5, .bias = true}));
  x = g.max_pool(x, {.kernel = 3, .stride = 3, .padding = 1});
  x = g.max_pool(g.tanh(g.conv("conv2", x, {.out = 64, .kernel = 5, .bias = true})), {});
  x = g.tanh(g.linear("fc1", g.flatten(x), {.out = *o.embedding}));
  g.tap("embedding", x);
  tap_logits(g, "fc2", x, o);
}

// Theano's tutorial: Caffe's layers, with tanh behind each pooling and the hidden layer.
static void build_lenet5_theano(Graph& g, Value x, const NetworkOptions& o) {
  x = g.tanh(g.max_pool(g.conv("conv1", x, {.out = 20, .kernel = 5, .bias = true}), {}));
  x = g.tanh(g.max_pool(g.conv("conv2", x, {.out = 50, .kernel = 5, .bias = true}), {}));
  x = g.tanh(g.linear("fc1", g.flatten(x), {.out = *o.embedding}));
  g.tap("embedding", x);
  tap_logits(g, "fc2", x, o);
}

std::vector<NetworkEntry> lenet_networks() {
  return {{.name = "lenet5",
           .doc = "two 5x5 convolutions for digits (channels=1); ip1 behind its ReLU",
           .source = "LeCun et al., \"Gradient-based learning applied to document recognition\", "
                     "1998; Caffe's examples/mnist/lenet.prototxt",
           .defaults = {.height = 28, .width = 28, .embedding = 500},
           .build = build_lenet5},
          {.name = "lenet5_tensorflow",
           .doc = "two 5x5 convolutions of 32 and 64 for digits (channels=1); fc1 behind its ReLU",
           .source = "TensorFlow's tutorial \"Deep MNIST for experts\"; Wu et al. 2018, "
                     "table IV",
           .defaults = {.height = 28, .width = 28, .embedding = 1024},
           .build = build_lenet5_tensorflow},
          {.name = "lenet5_torch",
           .doc = "two 5x5 convolutions of 32 and 64 with tanh for digits (channels=1); fc1 behind "
                  "its tanh",
           .source = "torch/demos, train-a-digit-classifier; Wu et al. 2018, table IV",
           .defaults = {.height = 32, .width = 32, .embedding = 200},
           .build = build_lenet5_torch},
          {.name = "lenet5_theano",
           .doc = "lenet5 with tanh behind each pooling for digits (channels=1); fc1 behind its "
                  "tanh",
           .source = "Theano's tutorial \"Convolutional neural networks (LeNet)\"; Wu et al. 2018, "
                     "table IV",
           .defaults = {.height = 28, .width = 28, .embedding = 500},
           .build = build_lenet5_theano}};
}

}  // namespace facebench
