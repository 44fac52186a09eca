#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

Value conv(Graph& g, const std::string& name, Value x, std::int64_t out, Size2 kernel,
           std::int64_t stride = 1, bool padded = true) {
  const Padding padding =
      stride == 1 && padded ? Padding(kernel.height / 2, kernel.width / 2) : Padding(0);
  return conv_bn_relu(g, name, x,
                      {.out = out, .kernel = kernel, .stride = stride, .padding = padding});
}

// x + factor * (1x1 of the joined branches), and ReLU but for the last block.
Value residual(Graph& g, const std::string& name, Value x, const std::vector<Value>& branches,
               double factor, bool activation = true) {
  Value y = g.conv(name + ".conv2d", g.concat(branches), {.out = g.shape(x)[0], .bias = true});
  if (factor != 1) y = g.scale(y, factor);
  y = g.add(y, x);
  return activation ? g.relu(y) : y;
}

Value block35(Graph& g, const std::string& n, Value x) {
  const Value zero = conv(g, n + ".branch0", x, 32, 1);
  const Value one = conv(g, n + ".branch1.1", conv(g, n + ".branch1.0", x, 32, 1), 32, 3);
  Value two = conv(g, n + ".branch2.1", conv(g, n + ".branch2.0", x, 32, 1), 32, 3);
  two = conv(g, n + ".branch2.2", two, 32, 3);
  return residual(g, n, x, {zero, one, two}, 0.17);
}

// A 1x1 branch, and one of a 1x1, a row and a column.
std::vector<Value> row_and_column(Graph& g, const std::string& n, Value x, std::int64_t width,
                                  std::int64_t length) {
  const Value zero = conv(g, n + ".branch0", x, width, 1);
  Value one = conv(g, n + ".branch1.0", x, width, 1);
  one = conv(g, n + ".branch1.1", one, width, {1, length});
  one = conv(g, n + ".branch1.2", one, width, {length, 1});
  return {zero, one};
}

Value mixed_6a(Graph& g, Value x) {
  const std::string n = "mixed_6a";
  const Value zero = conv(g, n + ".branch0", x, 384, 3, 2);
  Value one = conv(g, n + ".branch1.1", conv(g, n + ".branch1.0", x, 192, 1), 192, 3);
  one = conv(g, n + ".branch1.2", one, 256, 3, 2);
  return g.concat({zero, one, g.max_pool(x, {.kernel = 3, .stride = 2})});
}

Value mixed_7a(Graph& g, Value x) {
  const std::string n = "mixed_7a";
  const Value zero = conv(g, n + ".branch0.1", conv(g, n + ".branch0.0", x, 256, 1), 384, 3, 2);
  const Value one = conv(g, n + ".branch1.1", conv(g, n + ".branch1.0", x, 256, 1), 256, 3, 2);
  Value two = conv(g, n + ".branch2.1", conv(g, n + ".branch2.0", x, 256, 1), 256, 3);
  two = conv(g, n + ".branch2.2", two, 256, 3, 2);
  return g.concat({zero, one, two, g.max_pool(x, {.kernel = 3, .stride = 2})});
}

}  // namespace

// As facenet and its PyTorch port have it; names are the port's.
static void build_inception_resnet_v1(Graph& g, Value x, const NetworkOptions& o) {
  x = conv(g, "conv2d_1a", x, 32, 3, 2);
  x = conv(g, "conv2d_2a", x, 32, 3, 1, /*padded=*/false);
  x = conv(g, "conv2d_2b", x, 64, 3);
  x = g.max_pool(x, {.kernel = 3, .stride = 2});
  x = conv(g, "conv2d_3b", x, 80, 1);
  x = conv(g, "conv2d_4a", x, 192, 3, 1, /*padded=*/false);
  x = conv(g, "conv2d_4b", x, 256, 3, 2);
  for (int i = 0; i < 5; ++i) x = block35(g, "repeat_1." + std::to_string(i), x);
  x = mixed_6a(g, x);
  for (int i = 0; i < 10; ++i) {
    const std::string n = "repeat_2." + std::to_string(i);
    x = residual(g, n, x, row_and_column(g, n, x, 128, 7), 0.10);
  }
  x = mixed_7a(g, x);
  for (int i = 0; i < 5; ++i) {
    const std::string n = "repeat_3." + std::to_string(i);
    x = residual(g, n, x, row_and_column(g, n, x, 192, 3), 0.20);
  }
  x = residual(g, "block8", x, row_and_column(g, "block8", x, 192, 3), 1, /*activation=*/false);
  x = g.dropout(g.flatten(g.global_avg_pool(x)), 0.6);
  x = g.linear("last_linear", x, {.out = *o.embedding, .bias = false});
  x = g.batch_norm("last_bn", x, {.eps = 0.001});
  g.tap("embedding", x);
  tap_logits(g, "logits", x, o);
}

std::vector<NetworkEntry> inception_resnet_v1_networks() {
  return {{.name = "inception_resnet_v1",
           .doc = "residual Inception blocks, then FC and batch norm, as facenet's PyTorch port "
                  "has them; 512 values",
           .source = "Szegedy et al., \"Inception-v4, Inception-ResNet and the impact of residual "
                     "connections on learning\", AAAI 2017, figures 10 to 14",
           .defaults = {.height = 160, .width = 160, .embedding = 512},
           .build = build_inception_resnet_v1}};
}

}  // namespace facebench
