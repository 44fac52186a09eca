#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

constexpr Size2 kRow{1, 7}, kColumn{7, 1};

// Builds the blocks, which are named as torchvision names them: figures 5 (A), 6 (C) and 7 (E) of
// the paper, and B and D that halve the side.
class InceptionV3 {
 public:
  InceptionV3(Graph& g, bool scale) : g_(g), scale_(scale) {}

  // Padded to keep the size, except where it halves it (stride 2) or `padded` is false.
  Value conv(const std::string& name, Value x, std::int64_t out, Size2 kernel,
             std::int64_t stride = 1, bool padded = true) {
    const bool keep = stride == 1 && padded;
    const Padding padding = keep ? Padding(kernel.height / 2, kernel.width / 2) : Padding(0);
    return conv_bn_relu(g_, block_ + name, x,
                        {.out = out, .kernel = kernel, .stride = stride, .padding = padding},
                        scale_);
  }
  Value halve(Value x) { return g_.max_pool(x, {.kernel = 3, .stride = 2}); }
  void enter(const std::string& block) { block_ = block.empty() ? block : block + "."; }

  Value a(const std::string& name, Value x, std::int64_t pool_width) {
    enter(name);
    const Value one = conv("branch1x1", x, 64, 1);
    const Value five = conv("branch5x5_2", conv("branch5x5_1", x, 48, 1), 64, 5);
    Value twice = conv("branch3x3dbl_2", conv("branch3x3dbl_1", x, 64, 1), 96, 3);
    twice = conv("branch3x3dbl_3", twice, 96, 3);
    return g_.concat({one, five, twice, pooled(x, pool_width)});
  }
  Value b(const std::string& name, Value x) {
    enter(name);
    const Value three = conv("branch3x3", x, 384, 3, 2);
    Value twice = conv("branch3x3dbl_2", conv("branch3x3dbl_1", x, 64, 1), 96, 3);
    twice = conv("branch3x3dbl_3", twice, 96, 3, 2);
    return g_.concat({three, twice, halve(x)});
  }
  Value c(const std::string& name, Value x, std::int64_t width) {
    enter(name);
    const Value one = conv("branch1x1", x, 192, 1);
    Value seven = conv("branch7x7_2", conv("branch7x7_1", x, width, 1), width, kRow);
    seven = conv("branch7x7_3", seven, 192, kColumn);
    Value twice = conv("branch7x7dbl_2", conv("branch7x7dbl_1", x, width, 1), width, kColumn);
    twice = conv("branch7x7dbl_4", conv("branch7x7dbl_3", twice, width, kRow), width, kColumn);
    twice = conv("branch7x7dbl_5", twice, 192, kRow);
    return g_.concat({one, seven, twice, pooled(x, 192)});
  }
  Value d(const std::string& name, Value x) {
    enter(name);
    const Value three = conv("branch3x3_2", conv("branch3x3_1", x, 192, 1), 320, 3, 2);
    Value seven = conv("branch7x7x3_2", conv("branch7x7x3_1", x, 192, 1), 192, kRow);
    seven = conv("branch7x7x3_4", conv("branch7x7x3_3", seven, 192, kColumn), 192, 3, 2);
    return g_.concat({three, seven, halve(x)});
  }
  Value e(const std::string& name, Value x) {
    enter(name);
    const Value one = conv("branch1x1", x, 320, 1);
    const Value three = conv("branch3x3_1", x, 384, 1);
    const Value twice = conv("branch3x3dbl_2", conv("branch3x3dbl_1", x, 448, 1), 384, 3);
    const auto both = [&](const std::string& n, Value v) {
      return g_.concat({conv(n + "a", v, 384, {1, 3}), conv(n + "b", v, 384, {3, 1})});
    };
    const Value split = both("branch3x3_2", three);
    const Value split_twice = both("branch3x3dbl_3", twice);
    return g_.concat({one, split, split_twice, pooled(x, 192)});
  }

 private:
  Value pooled(Value x, std::int64_t width) {
    return conv("branch_pool", g_.avg_pool(x, {.kernel = 3, .stride = 1, .padding = 1}), width, 1);
  }

  Graph& g_;
  bool scale_;
  std::string block_;
};

void inception_v3(Graph& g, Value x, const NetworkOptions& o, bool scale) {
  InceptionV3 net(g, scale);
  x = net.conv("Conv2d_1a_3x3", x, 32, 3, 2);
  x = net.conv("Conv2d_2a_3x3", x, 32, 3, 1, /*padded=*/false);
  x = net.halve(net.conv("Conv2d_2b_3x3", x, 64, 3));
  x = net.conv("Conv2d_3b_1x1", x, 80, 1);
  x = net.halve(net.conv("Conv2d_4a_3x3", x, 192, 3, 1, /*padded=*/false));
  x = net.a("Mixed_5b", x, 32);
  x = net.a("Mixed_5c", x, 64);
  x = net.a("Mixed_5d", x, 64);
  x = net.b("Mixed_6a", x);
  x = net.c("Mixed_6b", x, 128);
  x = net.c("Mixed_6c", x, 160);
  x = net.c("Mixed_6d", x, 160);
  x = net.c("Mixed_6e", x, 192);
  if (o.auxiliary == 1) {
    net.enter("AuxLogits");
    Value y = net.conv("conv0", g.avg_pool(x, {.kernel = 5, .stride = 3}), 128, 1);
    y = net.conv("conv1", y, 768, 5, 1, /*padded=*/false);
    tap_auxiliary(g, 1, "AuxLogits.fc", g.flatten(g.global_avg_pool(y)), o);
  }
  x = net.d("Mixed_7a", x);
  x = net.e("Mixed_7b", x);
  x = net.e("Mixed_7c", x);
  x = tap_embedding(g, g.flatten(g.global_avg_pool(x)), o);
  tap_logits(g, "fc", x, o, scale ? 0.5 : 0.2);
}

}  // namespace

static void build_inception_v3(Graph& g, Value x, const NetworkOptions& o) {
  inception_v3(g, x, o, true);
}
// Slim's batch norms have no scale, and it drops a fifth rather than half.
static void build_inception_v3_slim(Graph& g, Value x, const NetworkOptions& o) {
  inception_v3(g, x, o, false);
}

std::vector<NetworkEntry> inception_v3_networks() {
  constexpr const char* kInceptionV3 =
      "Szegedy et al., \"Rethinking the Inception architecture for computer vision\", CVPR 2016";
  return {{.name = "inception_v3",
           .doc = "factorised convolutions, batch norm, torchvision's; pooled features",
           .source = kInceptionV3,
           .defaults = {.height = 299, .width = 299, .embedding = 2048, .auxiliary = 0},
           .aux_weight = 0.4,
           .build = build_inception_v3},
          {.name = "inception_v3_slim",
           .doc = "TensorFlow slim's inception_v3: batch norm without scale, the auxiliary head; "
                  "pooled features",
           .source = kInceptionV3,
           .defaults = {.height = 299, .width = 299, .embedding = 2048, .auxiliary = 1},
           .aux_weight = 0.4,
           .build = build_inception_v3_slim}};
}

}  // namespace facebench
