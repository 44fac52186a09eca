#include <gtest/gtest.h>

#include "facebench/core/isa.h"
#include "facebench/nn/inference_network.h"
#include "facebench/nn/internal/aten.h"
#include "nn/inference_networks.h"

namespace facebench {
namespace {

at::Tensor rounded(const at::Tensor& t) {
  return t.to(at::kFloat).to(at::kBFloat16).to(at::kDouble);
}

// Numbers whose sums of products no arithmetic rounds: so few bits do they have.
at::Tensor exact(at::IntArrayRef sizes, double phase) {
  const std::int64_t count = c10::multiply_integers(sizes);
  const at::Tensor t = at::sin(at::arange(count, at::kDouble) * 1.7 + phase);
  return (t * 16).round().div(16).reshape(sizes);
}

// F(2 x 2, 3 x 3) of Lavin & Gray (CVPR 2016), section 4.1, in float64, what is multiplied rounded.
at::Tensor winograd(const at::Tensor& x, const at::Tensor& weights) {
  const auto matrix = [](std::vector<double> values, std::int64_t columns) {
    return at::tensor(values, at::kDouble).reshape({-1, columns});
  };
  const at::Tensor b = matrix({1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1}, 4);
  const at::Tensor g = matrix({1, 0, 0, .5, .5, .5, .5, -.5, .5, 0, 0, 1}, 3);
  const at::Tensor a = matrix({1, 1, 1, 0, 0, 1, -1, -1}, 4);
  const at::Tensor padded = at::constant_pad_nd(x, {1, 1 + x.size(3) % 2, 1, 1 + x.size(2) % 2});
  const at::Tensor tiles = padded.unfold(2, 4, 2).unfold(3, 4, 2);
  const at::Tensor v = rounded(at::matmul(at::matmul(b, tiles), b.t()));
  const at::Tensor u = rounded(at::matmul(at::matmul(g, weights.to(at::kDouble)), g.t()));
  const at::Tensor m = at::einsum("kcij,nchwij->nkhwij", {u, v});
  const at::Tensor y = at::matmul(at::matmul(a, m), a.t()).permute({0, 1, 2, 4, 3, 5});
  return y.reshape({x.size(0), weights.size(0), y.size(2) * 2, y.size(4) * 2})
      .narrow(2, 0, x.size(2))
      .narrow(3, 0, x.size(3));
}

// A convolution of 48 channels behind one whose results are exact: what is multiplied would be
// rounded to different numbers if sums before it differed in their last bits.
struct OneConvolution {
  explicit OneConvolution(const ConvOptions& options) : o(options), net(make(options)) {
    net.tensor("first.weight").detach().copy_(exact({48, 3, 3, 3}, 1));
    in = at::conv2d(images, net.tensor("first.weight").detach().to(at::kDouble), {}, 1, 1);
    weights = net.tensor("c.weight").detach();
    bias = o.bias ? net.tensor("c.bias").detach().to(at::kDouble) : at::zeros({o.out}, at::kDouble);
  }
  static Network make(const ConvOptions& options) {
    Graph g;
    const Value x = g.conv("first", g.input(3, 13, 11), {.out = 48, .kernel = 3, .padding = 1});
    g.tap("embedding", g.conv("c", x, options));
    return filled(g);
  }
  at::Tensor reference(const at::Tensor& x, const at::Tensor& w) const {
    return at::conv2d(x, w, {}, {o.stride.height, o.stride.width}, {o.padding.top, o.padding.left},
                      {o.dilation.height, o.dilation.width}, o.groups);
  }
  // The largest difference from `expected`, to which the bias comes, relative to its largest value.
  double error(const at::Tensor& expected, InferencePrecision precision,
               const InputRanges& ranges = {}) const {
    const at::Tensor got = InferenceNetwork(net, 2, precision, ranges).infer(images.to(at::kFloat));
    const at::Tensor all = expected + bias.reshape({1, -1, 1, 1});
    EXPECT_EQ(got.sizes(), all.sizes());
    return ((got.to(at::kDouble) - all).abs().max() / all.abs().max()).item<double>();
  }

  ConvOptions o;
  Network net;
  at::Tensor images = exact({2, 3, 13, 11}, 0), in, weights, bias;
};

const std::vector<ConvOptions> kConvolutions{
    {.out = 80, .kernel = 1, .bias = true},
    {.out = 33, .kernel = 3, .stride = 2, .padding = 1},
    {.out = 33, .kernel = 1, .stride = 2, .bias = true},
    {.out = 32, .kernel = {1, 7}, .padding = {0, 3}},
    {.out = 32, .kernel = 3, .padding = 2, .dilation = 2},
    {.out = 96, .kernel = {5, 3}, .stride = {2, 1}, .padding = {2, 1}, .groups = 3}};
const ConvOptions kWinograd{.out = 48, .kernel = 3, .padding = 1, .bias = true};
const ConvOptions kDepthwise{.out = 48, .kernel = 3, .stride = 2, .padding = 1, .groups = 48};
constexpr double kUnitRounding = 2e-6;

TEST(InferencePrecision, Bfloat16IsRoundedWhereItIsMultiplied) {
  for (const ConvOptions& o : kConvolutions) {
    const OneConvolution c(o);
    EXPECT_LT(c.error(c.reference(rounded(c.in), rounded(c.weights)), InferencePrecision::bfloat16),
              kUnitRounding)
        << "kernel " << o.kernel.height << "x" << o.kernel.width << ", out " << o.out;
  }
  const OneConvolution w(kWinograd), d(kDepthwise);
  EXPECT_LT(w.error(winograd(w.in, w.weights), InferencePrecision::bfloat16), kUnitRounding);
  EXPECT_LT(d.error(d.reference(d.in, d.weights.to(at::kDouble)), InferencePrecision::bfloat16),
            kUnitRounding);
}

// Inputs in 255 steps of 1/64 from -1.5 on, which some of them exceed; weights in steps of a 127th
// of each output's largest.
TEST(InferencePrecision, Int8IsRoundedWhereItIsMultiplied) {
  const InputRanges ranges{{"c", {-1.5F, -1.5F + 255.0F / 64}}};
  std::vector<ConvOptions> kinds = kConvolutions;
  kinds.push_back(kWinograd);  // directly
  for (const ConvOptions& o : kinds) {
    const OneConvolution c(o);
    EXPECT_GT(c.in.max().item<double>(), 2.6);
    const at::Tensor x = (at::clamp(at::round(c.in * 64) + 96, 0, 255) - 96) / 64;
    const at::Tensor unit =
        c.weights.to(at::kDouble).abs().amax(at::IntArrayRef{1, 2, 3}, true) / 127;
    const at::Tensor w = at::round(c.weights.to(at::kDouble) / unit) * unit;
    EXPECT_LT(c.error(c.reference(x, w), InferencePrecision::int8, ranges), kUnitRounding)
        << "kernel " << o.kernel.height << "x" << o.kernel.width << ", out " << o.out;
  }
  EXPECT_THROW(InferenceNetwork(OneConvolution(kWinograd).net, 2, InferencePrecision::int8),
               std::invalid_argument);
}

// Numbers of 8 bits, 4 to 6 layers of them.
TEST(InferencePrecision, LowerPrecisionIsNearFloat32) {
  const Graph g = small_network();
  const Network net = filled(g);
  const at::Tensor x = waves(9, g), expected = net.infer(x);
  for (const auto precision : {InferencePrecision::bfloat16, InferencePrecision::int8}) {
    const at::Tensor got = InferenceNetwork(net, 8, precision, seen_ranges(net, x)).infer(x);
    const double error = ((got - expected).norm() / expected.norm()).item<double>();
    EXPECT_LT(error, precision == InferencePrecision::bfloat16 ? 5e-3 : 3e-2);
    EXPECT_GT(error, 1e-5);
  }
}

// Emulated or not, bfloat16 has the same bits where blocks have the same channels; on other sets
// sums run in another order.
TEST(InferencePrecision, InstructionSetsAgree) {
  const Graph g = small_network();
  const Network net = filled(g);
  const at::Tensor x = waves(3, g);
  for (const auto precision : {InferencePrecision::bfloat16, InferencePrecision::int8}) {
    std::vector<at::Tensor> results;
    for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512, Isa::avx512bf16}) {
      if (isa > supported_isa()) continue;
      const WithIsa with(isa);
      results.push_back(InferenceNetwork(net, 8, precision, seen_ranges(net, x)).infer(x));
      EXPECT_LT(((results.back() - results[0]).norm() / results[0].norm()).item<double>(), 5e-3)
          << isa_name(isa);
    }
    if (results.size() == 4) {
      EXPECT_TRUE(at::equal(results[3], results[2]));
    }
  }
}

TEST(InferencePrecision, GraphsThatTorchRunsHaveFloat32Alone) {
  Graph g;
  g.tap("embedding", g.lrn(g.conv("c", g.input(3, 8, 8), {.out = 16})));
  const Network net = filled(g);
  EXPECT_THROW(InferenceNetwork(net, 2, InferencePrecision::bfloat16), std::invalid_argument);
}

}  // namespace
}  // namespace facebench
