#include "facebench/nn/network.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "facebench/core/error.h"
#include "facebench/nn/inference_network.h"
#include "facebench/nn/networks.h"
#include "facebench/nn/threads.h"

namespace facebench {
namespace {

// Threads that wait for each other are slow where the tests share the machine.
class OneThread : public ::testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
const auto* const one_thread = ::testing::AddGlobalTestEnvironment(new OneThread);

at::Tensor some_images(std::int64_t n, const Graph& g) {
  const Shape& s = g.input_shape();
  return at::sin(at::arange(n * element_count(s), at::kFloat)).reshape({n, s[0], s[1], s[2]});
}

float largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<float>();
}

// Every operation in one graph, the less usual options among them.
Graph everything() {
  Graph g;
  Value x = g.input(3, 17, 16);
  x = g.conv("a", x, {.out = 8, .kernel = 3, .stride = 2, .padding = {1, 0, 1, 1}, .bias = true});
  x = g.batch_norm("bn", x, {.eps = 1e-3, .scale = false});
  x = g.lrn(g.prelu("p", x, {.shared = true}), {.size = 4, .alpha = 0.5});
  Value y = g.relu6(g.conv("b", x, {.out = 8, .kernel = {1, 3}, .padding = {0, 1}, .groups = 4}));
  x = g.add(x, g.scale(y, 0.3));
  x = g.concat(
      {g.max_pool(x, {.kernel = 3, .stride = 2, .padding = {0, 0, 1, 1}}),
       g.avg_pool(x, {.kernel = 3, .stride = 2, .ceil_mode = true, .count_include_pad = false})});
  x = g.mfm(g.relu(x));
  Value t = g.positions("positions", g.tokens(g.adaptive_avg_pool(x, 2)));
  t = g.linear("qkv", g.layer_norm("norm", t, {.eps = 1e-3}), {.out = 24});
  x = g.flatten(g.drop_path(g.tanh(g.attention(t, {.heads = 2})), 0.25));
  g.tap("embedding", g.linear("fc", g.dropout(x, 0.5), {.out = 6}));
  return g;
}

TEST(Network, GivesTheShapesThatTheGraphInferred) {
  Graph g = everything();
  for (std::size_t i = 0; i < g.nodes().size(); ++i)
    g.tap(fmt::format("n{}", i), {static_cast<int>(i)});
  Network net(g, "xavier_uniform", 3);
  for (const auto& [tap, node] : g.taps()) {
    const at::Tensor y = net.forward(some_images(2, g), tap);
    EXPECT_EQ(y.sizes().slice(1), at::IntArrayRef(g.shape({node}))) << tap;
  }
}

TEST(Network, SameNumbersInEveryLayout) {
  const Graph g = everything();
  Network net(g, "xavier_uniform", 3);
  const at::Tensor x = some_images(2, g);
  const at::Tensor expected = net.infer(x);
  EXPECT_LT(largest_difference(InferenceNetwork(net, 2).infer(x), expected), 1e-5F);
  EXPECT_LT(largest_difference(fold_batch_norm(net).infer(x), expected), 1e-5F);
  Network copy = net.clone();
  copy.channels_last();
  EXPECT_LT(largest_difference(copy.infer(x), expected), 1e-5F);
  copy.to(at::kCPU, at::kDouble);
  EXPECT_LT(largest_difference(copy.infer(x.to(at::kDouble)).to(at::kFloat), expected), 1e-5F);
}

// Central differences in double precision, through every operation, batch statistics included.
TEST(Network, GradientsAreThoseOfFiniteDifferences) {
  const Graph g = everything();
  Network net(g, "xavier_uniform", 5);
  net.to(at::kCPU, at::kDouble);
  const at::Tensor x = some_images(3, g).to(at::kDouble);
  const auto loss = [&] {
    net.set_dropout(1, 7);
    return net.forward(x).square().sum();
  };
  loss().backward();
  const c10::NoGradGuard no_grad;
  for (const NamedTensor& p : net.parameters()) {
    at::Tensor flat = p.tensor.detach().view(-1);
    const at::Tensor gradient = p.tensor.grad().reshape(-1);
    for (std::int64_t i = 0; i < flat.numel(); i += 1 + flat.numel() / 3) {
      const double h = 1e-6;
      const double v = flat[i].item<double>();
      flat[i] = v + h;
      const double above = loss().item<double>();
      flat[i] = v - h;
      const double below = loss().item<double>();
      flat[i] = v;
      const double numeric = (above - below) / (2 * h);
      EXPECT_NEAR(gradient[i].item<double>(), numeric, 1e-5 * (1 + std::abs(numeric)))
          << p.name << "[" << i << "]";
    }
  }
}

TEST(Network, DropoutDependsOnSeedStepAndLayerAlone) {
  Graph g;
  Value x = g.input(1, 100, 100);
  g.tap("embedding", g.dropout(x, 0.3));
  Network net(g);
  const at::Tensor ones = at::ones({1, 1, 100, 100});
  net.set_dropout(1, 5);
  const at::Tensor a = net.forward(ones);
  const at::Tensor b = net.forward(ones);  // step 6
  net.set_dropout(1, 5);
  EXPECT_TRUE(at::equal(net.forward(ones), a));
  EXPECT_FALSE(at::equal(a, b));
  const double kept = (a > 0).to(at::kFloat).mean().item<double>();
  EXPECT_NEAR(kept, 0.7, 0.02);  // more than 4 standard deviations of 10,000 draws
  EXPECT_FLOAT_EQ(a.max().item<float>(), 1 / 0.7F);
  EXPECT_TRUE(at::equal(net.infer(ones), ones));
}

// Stochastic depth: the whole value of an image, with the expectation kept.
TEST(Network, DropPathDropsWholeImages) {
  Graph g;
  const Value x = g.input(1, 2, 3);
  g.tap("embedding", g.drop_path(x, 0.25));
  Network net(g);
  net.set_dropout(7, 0);
  const at::Tensor ones = at::ones({400, 1, 2, 3});
  const at::Tensor y = net.forward(ones).reshape({400, 6});
  EXPECT_TRUE(at::equal(y, y.slice(1, 0, 1).expand({400, 6})));
  const at::Tensor kept = y.select(1, 0);
  EXPECT_TRUE(((kept == 0).logical_or((kept - 4.0 / 3).abs() < 1e-6)).all().item<bool>());
  EXPECT_NEAR((kept > 0).to(at::kDouble).mean().item<double>(), 0.75, 0.06);
  EXPECT_FALSE(at::equal(net.forward(ones).reshape({400, 6}), y));
  net.use_dropout(false);
  EXPECT_TRUE(at::equal(net.forward(ones), ones));
}

TEST(Network, MovingKeepsATensorsIdentity) {
  Network net = build_network("small4", {.height = 16, .width = 16});
  at::Tensor held = net.parameters().front().tensor;
  net.to(at::kCPU, at::kDouble);
  net.channels_last();
  EXPECT_TRUE(held.is_same(net.tensor("conv1.weight")));
  EXPECT_EQ(held.scalar_type(), at::kDouble);
  EXPECT_TRUE(held.requires_grad());
  net.to(at::kCPU, at::kBFloat16);
  EXPECT_EQ(net.tensor("bn1.running_mean").scalar_type(), at::kFloat);
}

TEST(Network, RefusesWrongImagesAndTensors) {
  Network net = build_network("small4", {.height = 16, .width = 16});
  EXPECT_THROW(net.forward(at::zeros({1, 3, 16, 17})), std::invalid_argument);
  EXPECT_THROW(net.forward(at::zeros({1, 3, 16, 16}, at::kDouble)), std::invalid_argument);
  EXPECT_THROW(net.tensor("conv1.wieght"), std::invalid_argument);
  std::vector<NamedTensor> tensors = net.tensors();
  const auto message = [&] {
    try {
      net.load(tensors, "file.pt");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(), "");
  tensors[0].name = "conv1.weights";
  EXPECT_EQ(message(),
            "file.pt: tensor 'conv1.weight' (32x3x3x3) is missing. The nearest name there is "
            "'conv1.weights'");
  tensors[0] = {"conv1.weight", at::zeros({3, 3})};
  EXPECT_NE(message().find("'conv1.weight' is (3x3), expected (32x3x3x3)"), std::string::npos);
  tensors = net.tensors();
  tensors.push_back({"conv5.weight", at::zeros({1})});
  EXPECT_NE(message().find("'conv5.weight' (1) is not part of the network"), std::string::npos);
  tensors.back().name = "bn1.bias";
  EXPECT_NE(message().find("twice"), std::string::npos);
}

}  // namespace
}  // namespace facebench
