#include <array>
#include <functional>
#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

// Szegedy et al., table 1: the widths of the four branches of each block.
struct Block {
  const char* name;
  std::int64_t one, reduce3, three, reduce5, five, pool;
};
constexpr Block kBlocks[] = {
    {"3a", 64, 96, 128, 16, 32, 32},     {"3b", 128, 128, 192, 32, 96, 64},
    {"4a", 192, 96, 208, 16, 48, 64},    {"4b", 160, 112, 224, 24, 64, 64},
    {"4c", 128, 128, 256, 24, 64, 64},   {"4d", 112, 144, 288, 32, 64, 64},
    {"4e", 256, 160, 320, 32, 128, 128}, {"5a", 256, 160, 320, 32, 128, 128},
    {"5b", 384, 192, 384, 48, 128, 128},
};

// What the three implementations differ in: the convolution with what follows it, names, the
// kernel of the branch that the paper calls 5x5, how pools round, and what is between the blocks.
struct GoogLeNetFlavour {
  std::function<Value(const std::string& name, Value x, std::int64_t out, std::int64_t kernel,
                      std::int64_t stride)>
      conv;
  std::function<Value(Value x, std::int64_t kernel)> pool;  // stride 2
  std::function<std::string(const Block&)> prefix;
  std::array<const char*, 6> names;  // 1x1, 3x3 reduce, 3x3, 5x5 reduce, 5x5, after the pool
  std::int64_t five_kernel;
  std::int64_t last_pool_kernel;
  std::function<void(int head, Value x)> auxiliary;
};

Value inception(Graph& g, const GoogLeNetFlavour& f, const Block& b, Value x) {
  const auto conv = [&](int i, Value in, std::int64_t out, std::int64_t kernel) {
    return f.conv(f.prefix(b) + f.names[static_cast<std::size_t>(i)], in, out, kernel, 1);
  };
  const Value one = conv(0, x, b.one, 1);
  const Value three = conv(2, conv(1, x, b.reduce3, 1), b.three, 3);
  const Value five = conv(4, conv(3, x, b.reduce5, 1), b.five, f.five_kernel);
  const Value pooled = g.max_pool(x, {.kernel = 3, .stride = 1, .padding = 1});
  return g.concat({one, three, five, conv(5, pooled, b.pool, 1)});
}

// The nine blocks, with the auxiliary heads where the flavour has them; 1,024 numbers.
Value blocks(Graph& g, const GoogLeNetFlavour& f, Value x) {
  for (const Block& b : kBlocks) {
    const std::string name = b.name;
    if (name == "4a") x = f.pool(x, 3);
    if (name == "5a") x = f.pool(x, f.last_pool_kernel);
    x = inception(g, f, b, x);
    if (f.auxiliary && name == "4a") f.auxiliary(1, x);
    if (f.auxiliary && name == "4d") f.auxiliary(2, x);
  }
  return g.flatten(g.global_avg_pool(x));
}

}  // namespace

// The BVLC prototxt of Caffe: biases instead of batch norm, LRN, a true 5x5.
static void build_googlenet_bvlc(Graph& g, Value x, const NetworkOptions& o) {
  GoogLeNetFlavour f{
      .conv =
          [&](const std::string& name, Value x, std::int64_t out, std::int64_t kernel,
              std::int64_t stride) {
            return conv_relu(
                g, name, x,
                {.out = out, .kernel = kernel, .stride = stride, .padding = kernel / 2});
          },
      .pool =
          [&](Value x, std::int64_t kernel) {
            return g.max_pool(x, {.kernel = kernel, .stride = 2, .ceil_mode = true});
          },
      .prefix = [](const Block& b) { return "inception_" + std::string(b.name) + "/"; },
      .names = {"1x1", "3x3_reduce", "3x3", "5x5_reduce", "5x5", "pool_proj"},
      .five_kernel = 5,
      .last_pool_kernel = 3,
      .auxiliary = nullptr};
  if (o.auxiliary == 1)
    f.auxiliary = [&](int head, Value x) {
      const std::string n = "loss" + std::to_string(head);
      x = g.avg_pool(x, {.kernel = 5, .stride = 3, .ceil_mode = true});
      x = f.conv(n + "/conv", x, 128, 1, 1);
      x = g.relu(g.linear(n + "/fc", g.flatten(x), {.out = 1024}));
      tap_auxiliary(g, head, n + "/classifier", g.dropout(x, 0.7), o);
    };
  x = g.lrn(f.pool(f.conv("conv1/7x7_s2", x, 64, 7, 2), 3));
  x = f.conv("conv2/3x3_reduce", x, 64, 1, 1);
  x = f.pool(g.lrn(f.conv("conv2/3x3", x, 192, 3, 1)), 3);
  x = tap_embedding(g, blocks(g, f, x), o);
  tap_logits(g, "loss3/classifier", x, o, /*dropout=*/0.4);
}

// torchvision's: batch norm, 3x3 where the paper has 5x5.
static void build_googlenet(Graph& g, Value x, const NetworkOptions& o) {
  GoogLeNetFlavour f{
      .conv =
          [&](const std::string& name, Value x, std::int64_t out, std::int64_t kernel,
              std::int64_t stride) {
            return conv_bn_relu(
                g, name, x,
                {.out = out, .kernel = kernel, .stride = stride, .padding = kernel / 2});
          },
      .pool =
          [&](Value x, std::int64_t kernel) {
            return g.max_pool(x, {.kernel = kernel, .stride = 2, .ceil_mode = true});
          },
      .prefix = [](const Block& b) { return "inception" + std::string(b.name) + "."; },
      .names = {"branch1", "branch2.0", "branch2.1", "branch3.0", "branch3.1", "branch4.1"},
      .five_kernel = 3,
      .last_pool_kernel = 2,
      .auxiliary = nullptr};
  if (o.auxiliary == 1)
    f.auxiliary = [&](int head, Value x) {
      const std::string n = "aux" + std::to_string(head);
      x = f.conv(n + ".conv", g.adaptive_avg_pool(x, 4), 128, 1, 1);
      x = g.relu(g.linear(n + ".fc1", g.flatten(x), {.out = 1024}));
      tap_auxiliary(g, head, n + ".fc2", g.dropout(x, 0.7), o);
    };
  x = f.pool(f.conv("conv1", x, 64, 7, 2), 3);
  x = f.conv("conv2", x, 64, 1, 1);
  x = f.pool(f.conv("conv3", x, 192, 3, 1), 3);
  x = tap_embedding(g, blocks(g, f, x), o);
  tap_logits(g, "fc", x, o, /*dropout=*/0.2);
}

// TensorFlow slim's inception_v1: padding "SAME", batch norm without scale, no auxiliary heads.
static void build_googlenet_slim(Graph& g, Value x, const NetworkOptions& o) {
  const GoogLeNetFlavour f{
      .conv =
          [&](const std::string& name, Value x, std::int64_t out, std::int64_t kernel,
              std::int64_t stride) {
            return conv_bn_relu(g, name, x,
                                {.out = out,
                                 .kernel = kernel,
                                 .stride = stride,
                                 .padding = same_padding(g.shape(x), kernel, stride)},
                                /*scale=*/false);
          },
      .pool =
          [&](Value x, std::int64_t kernel) {
            return g.max_pool(
                x, {.kernel = kernel, .stride = 2, .padding = same_padding(g.shape(x), kernel, 2)});
          },
      // Its blocks begin at b: MaxPool_3a comes before Mixed_3b.
      .prefix =
          [](const Block& b) {
            const char next = static_cast<char>(b.name[1] + 1);
            return std::string("Mixed_") + b.name[0] + next + ".";
          },
      .names = {"Branch_0.Conv2d_0a_1x1", "Branch_1.Conv2d_0a_1x1", "Branch_1.Conv2d_0b_3x3",
                "Branch_2.Conv2d_0a_1x1", "Branch_2.Conv2d_0b_3x3", "Branch_3.Conv2d_0b_1x1"},
      .five_kernel = 3,
      .last_pool_kernel = 2,
      .auxiliary = nullptr};
  x = f.pool(f.conv("Conv2d_1a_7x7", x, 64, 7, 2), 3);
  x = f.conv("Conv2d_2b_1x1", x, 64, 1, 1);
  x = f.pool(f.conv("Conv2d_2c_3x3", x, 192, 3, 1), 3);
  x = tap_embedding(g, blocks(g, f, x), o);
  tap_logits(g, "Logits.Conv2d_0c_1x1", x, o, /*dropout=*/0.2);
}

std::vector<NetworkEntry> googlenet_networks() {
  constexpr const char* kGoogLeNet =
      "Szegedy et al., \"Going deeper with convolutions\", CVPR 2015, table 1";
  return {{.name = "googlenet",
           .doc = "Inception-v1 with batch norm and 3x3 for 5x5, torchvision's; pooled features",
           .source = kGoogLeNet,
           .defaults = {.height = 224, .width = 224, .embedding = 1024, .auxiliary = 0},
           .aux_weight = 0.3,
           .build = build_googlenet},
          {.name = "googlenet_bvlc",
           .doc = "GoogLeNet of Caffe's BVLC prototxt: LRN, true 5x5, two auxiliary heads; pooled "
                  "features",
           .source = kGoogLeNet,
           .defaults = {.height = 224, .width = 224, .embedding = 1024, .auxiliary = 1},
           .aux_weight = 0.3,
           .build = build_googlenet_bvlc},
          {.name = "googlenet_slim",
           .doc = "TensorFlow slim's inception_v1: batch norm without scale, 3x3 for 5x5; pooled "
                  "features",
           .source = kGoogLeNet,
           .defaults = {.height = 224, .width = 224, .embedding = 1024},
           .build = build_googlenet_slim}};
}

}  // namespace facebench
