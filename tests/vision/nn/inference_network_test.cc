#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "facebench/core/isa.h"
#include "facebench/nn/graph_summary.h"
#include "facebench/nn/inference_network.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/threads.h"
#include "nn/inference_networks.h"

namespace facebench {
namespace {

// Largest difference from torch in float64, relative to the largest value.
double error(const Graph& g, std::int64_t batch = 3) {
  Network net = filled(g);
  const at::Tensor x = waves(batch, g);
  InferenceNetwork frozen(net, batch);
  EXPECT_TRUE(frozen.any_batch());
  const at::Tensor got = frozen.infer(x).to(at::kDouble);
  net.to(at::kCPU, at::kDouble);
  const at::Tensor expected = net.infer(x.to(at::kDouble));
  EXPECT_EQ(got.sizes(), expected.sizes());
  return ((got - expected).abs().max() / expected.abs().max()).item<double>();
}

constexpr double kRounding = 2e-6;
// One layer by Winograd's method; of an embedding 1e-5 is allowed.
constexpr double kWinogradRounding = 4e-6;

TEST(Inference, ConvolutionsOfEveryKindEqualTorch) {
  for (const auto& o : std::vector<ConvOptions>{
           {.out = 16, .kernel = 3, .padding = {0, 1, 1, 0}},    // sides that differ
           {.out = 80, .kernel = 1, .bias = true},               // five blocks
           {.out = 33, .kernel = 3, .stride = 2, .padding = 1},  // a block that is not full
           {.out = 32, .kernel = 3, .padding = 2, .dilation = 2},
           {.out = 64, .kernel = {5, 3}, .stride = {2, 1}, .padding = {2, 1}, .groups = 2},
           {.out = 32, .kernel = 3, .stride = 2, .padding = 1, .groups = 32},  // depthwise
           {.out = 32, .kernel = {13, 11}, .groups = 32, .bias = true}}) {
    Graph g;
    Value x = g.input(3, 13, 11);
    x = g.conv("first", x, {.out = 32, .kernel = 3, .padding = 1, .bias = true});
    g.tap("embedding", g.conv("c", x, o));
    EXPECT_LT(error(g), kRounding) << "kernel " << o.kernel.height << "x" << o.kernel.width
                                   << ", groups " << o.groups << ", out " << o.out;
  }
}

// Every form of Winograd's method, on sizes that are not whole tiles and that are one.
TEST(Inference, WinogradsFormsEqualTorch) {
  for (const auto& o :
       std::vector<ConvOptions>{{.out = 48, .kernel = 3, .padding = 1},
                                {.out = 48, .kernel = 5, .padding = {1, 2, 2, 3}},
                                {.out = 32, .kernel = {1, 3}, .padding = {0, 1}, .bias = true},
                                {.out = 32, .kernel = {3, 1}},
                                {.out = 32, .kernel = {1, 7}, .padding = {0, 3}, .bias = true},
                                {.out = 33, .kernel = {7, 1}, .padding = {3, 0}}})
    for (const Size2 size : {Size2(13, 11), Size2(29, 33), Size2(7, 7), Size2(8, 12)}) {
      Graph g;
      Value x = g.relu(g.conv("first", g.input(3, size.height, size.width), {.out = 64}));
      g.tap("embedding", g.conv("c", x, o));
      EXPECT_LT(error(g), kWinogradRounding)
          << "kernel " << o.kernel.height << "x" << o.kernel.width << " on " << size.height << "x"
          << size.width;
    }
}

TEST(Inference, FirstLayersEqualTorch) {
  for (const std::int64_t channels : {1, 3})
    for (const auto& o : std::vector<ConvOptions>{
             {.out = 20, .kernel = 7, .stride = 2, .padding = 3},
             {.out = 32, .kernel = 11, .stride = 4, .padding = 2, .bias = true},
             {.out = 16, .kernel = 3, .stride = 2, .padding = {0, 0, 1, 1}}}) {
      Graph g;
      g.tap("embedding", g.conv("c", g.input(channels, 35, 30), o));
      EXPECT_LT(error(g), kRounding) << o.kernel.height << ", channels " << channels;
    }
}

// Activations before and after sums, values that several nodes read, factors, batch norms that
// cannot be folded.
TEST(Inference, WhatFollowsAConvolutionEqualsTorch) {
  Graph g;
  Value x = g.input(3, 14, 14);
  x = g.prelu("p0", g.conv("c0", x, {.out = 32, .kernel = 3, .padding = 1}));
  Value y = g.batch_norm("b1", x);
  y = g.relu6(g.batch_norm("b2", g.conv("c1", y, {.out = 32, .kernel = 3, .padding = 1})));
  x = g.add(x, g.prelu("p1", g.conv("c2", y, {.out = 32}), {.shared = true}));
  x = g.relu(g.add(g.scale(g.conv("c3", x, {.out = 32, .bias = true}), 0.17), x));
  Value z = g.mfm(g.conv("c4", x, {.out = 96, .kernel = 3, .padding = 1, .bias = true}));
  z = g.add(z, g.mfm(g.conv("c5", z, {.out = 96})));
  z = g.add(g.relu(g.batch_norm("b3", z)), z);
  g.tap("embedding", g.linear("fc", g.flatten(g.mfm(g.concat({z, x, x, z}))), {.out = 37}));
  // Sums of the same sign, three of Winograd's in a row.
  EXPECT_LT(error(g), 1e-5);
  EXPECT_LT(error(g, 9), 1e-5);
}

// Values that are part of several concatenations, once, twice and with values between.
TEST(Inference, ConcatenationsEqualTorch) {
  Graph g;
  Value a = g.conv("a", g.input(3, 9, 8), {.out = 32, .kernel = 3, .padding = 1});
  Value b = g.relu(g.conv("b", a, {.out = 16, .kernel = 3, .padding = 1}));
  Value ab = g.concat({a, b});
  Value c = g.conv("c", g.relu(g.batch_norm("n", ab)), {.out = 16, .kernel = 3, .padding = 1});
  Value abc = g.concat({a, b, c});
  Value d = g.max_pool(abc, {.kernel = 3, .stride = 1, .padding = 1});
  Value e = g.conv("e", g.concat({c, b, c}), {.out = 24, .kernel = 3, .padding = 1});
  g.tap("embedding", g.conv("f", g.concat({abc, d, e}), {.out = 16, .kernel = 3}));
  EXPECT_LT(error(g), kRounding);
}

TEST(Inference, PoolsEqualTorch) {
  const auto of = [](const auto& pool) {
    Graph g;
    g.tap("embedding", pool(g, g.conv("c", g.input(3, 13, 17), {.out = 32, .bias = true})));
    return error(g);
  };
  const std::vector<PoolOptions> kinds{
      {.kernel = 3, .stride = 2, .padding = 1},
      {.kernel = 3, .stride = 2, .ceil_mode = true},
      {.kernel = {2, 3}, .stride = {1, 2}, .padding = {1, 1}, .count_include_pad = false},
      {.kernel = 3, .stride = 2, .padding = 1, .ceil_mode = true}};
  for (const PoolOptions& o : kinds) {
    EXPECT_LT(of([&](Graph& g, Value x) { return g.max_pool(x, o); }), kRounding);
    EXPECT_LT(of([&](Graph& g, Value x) { return g.avg_pool(x, o); }), kRounding);
  }
  const PoolOptions zeros{.kernel = 1, .stride = 1, .padding = {2, 0, 1, 3}};  // whole windows
  EXPECT_LT(of([&](Graph& g, Value x) { return g.avg_pool(x, zeros); }), kRounding);
  for (const Size2 out : {Size2(1), Size2(5, 4), Size2(13, 17)})
    EXPECT_LT(of([&](Graph& g, Value x) { return g.flatten(g.adaptive_avg_pool(x, out)); }),
              kRounding);
}

TEST(Inference, GatesEqualTorch) {
  Graph g;
  Value x = g.conv("a", g.input(3, 9, 8), {.out = 40, .kernel = 3, .padding = 1});
  Value gate = g.relu(g.conv("s", g.global_avg_pool(x), {.out = 24, .bias = true}));
  gate = g.sigmoid(g.conv("e", gate, {.out = 40, .bias = true}));
  x = g.prelu("p", g.multiply(x, gate));               // an image by a pixel
  x = g.multiply(x, g.sigmoid(g.batch_norm("n", x)));  // x sigmoid(b(x))
  const Value vector = g.sigmoid(g.linear("v", g.flatten(x), {.out = 40}));
  x = g.multiply(x, vector);                                   // an image by a vector
  x = g.conv("c", x, {.out = 16, .kernel = 3, .padding = 1});  // of a value with a border
  g.tap("embedding", g.multiply(g.flatten(x), g.sigmoid(g.flatten(x))));
  for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512}) {
    if (isa > supported_isa()) continue;
    const WithIsa with(isa);
    EXPECT_LT(error(g), kRounding) << isa_name(isa);
    EXPECT_GT(InferenceNetwork(filled(g), 2).time_steps(waves(2, g), 1).size(), 8U);
  }
}

// A flattened image lies otherwise than a vector of as many numbers.
TEST(Inference, VectorsOfTwoOriginsEqualTorch) {
  for (const bool product : {false, true})
    for (const bool swapped : {false, true}) {
      Graph g;
      const Value x = g.flatten(g.conv("c", g.input(3, 6, 5), {.out = 8}));
      const Value y = g.linear("v", x, {.out = 8 * 6 * 5});
      const Value a = swapped ? y : x, b = swapped ? x : y;
      g.tap("embedding", product ? g.multiply(a, b) : g.add(a, b));
      const Network net = filled(g);
      const at::Tensor expected = net.infer(waves(2, g));
      const at::Tensor found = InferenceNetwork(net, 2).infer(waves(2, g));
      EXPECT_LT((found - expected).abs().max().item<double>(),
                kRounding * expected.abs().max().item<double>())
          << product << swapped;
    }
}

TEST(Inference, HalvesOfAFlattenedImageEqualTorch) {
  Graph g;
  const Value x = g.conv("c", g.input(3, 8, 4), {.out = 16});
  g.tap("embedding", g.mfm(g.flatten(x)));
  const Network net = filled(g);
  EXPECT_TRUE(at::allclose(InferenceNetwork(net, 2).infer(waves(2, g)), net.infer(waves(2, g)),
                           /*rtol=*/1e-5, /*atol=*/1e-6));
}

// A norm and its PReLU beside a convolution that others read, too.
TEST(Inference, ActivationsBehindTheSecondNormEqualTorch) {
  for (const bool shared : {false, true}) {
    Graph g;
    const Value x = g.conv("c", g.input(3, 9, 8), {.out = 24, .kernel = 3, .padding = 1});
    const Value y = g.prelu("p", g.batch_norm("b", x), {.shared = shared});
    g.tap("embedding", g.concat({y, x}));
    EXPECT_LT(error(g), kRounding);
  }
}

// From where exp(-x) is infinite to where it is nothing, and what is not a number.
TEST(Inference, SigmoidEqualsTorch) {
  Graph g;
  Value x = g.conv("c", g.input(3, 64, 64), {.out = 16});
  g.tap("embedding", g.sigmoid(x));
  Network net = filled(g);
  at::Tensor weight = net.tensors()[0].tensor.detach();
  weight.zero_();
  weight.select(1, 0).fill_(1);
  at::Tensor images = at::zeros({1, 3, 64, 64});
  images.select(1, 0).copy_(at::linspace(-120, 120, 64 * 64).reshape({1, 64, 64}));
  const at::Tensor values = InferenceNetwork(net, 1).infer(images)[0][0];
  const at::Tensor exact = at::sigmoid(images[0][0].to(at::kDouble));
  EXPECT_LT(((values - exact).abs() / exact.clamp_min(1e-30)).max().item<double>(), 4e-7);
  EXPECT_EQ(values[63][63].item<float>(), 1);
  images.fill_(std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(InferenceNetwork(net, 1).infer(images).isnan().all().item<bool>());
}

TEST(Inference, BitsDependOnTheImageAlone) {
  const TorchThreads restore;
  const Graph g = small_network();
  const Network net = filled(g);
  const at::Tensor x = waves(21, g);
  for (const InferencePrecisionEntry& precision : inference_precisions().entries()) {
    const InferenceNetwork frozen(net, 8, precision.precision, seen_ranges(net, x));
    at::set_num_threads(1);
    const at::Tensor expected = frozen.infer(x);
    for (const int threads : {1, 2, 3})
      for (const std::int64_t batch : {1, 2, 5, 21}) {
        at::set_num_threads(threads);
        for (std::int64_t first = 0; first + batch <= 21; first += batch)
          EXPECT_TRUE(
              at::equal(frozen.infer(x.narrow(0, first, batch)), expected.narrow(0, first, batch)))
              << precision.name << ", " << threads << " threads, images " << first << " to "
              << first + batch;
      }
    EXPECT_TRUE(at::equal(frozen.infer(x.contiguous(at::MemoryFormat::ChannelsLast)), expected));
    EXPECT_EQ(frozen.infer(x.narrow(0, 0, 0)).size(0), 0);
  }
}

TEST(Inference, EveryInstructionSetEqualsTorch) {
  for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512}) {
    if (isa > supported_isa()) continue;
    const WithIsa with(isa);
    EXPECT_LT(error(small_network()), kRounding) << isa_name(isa);
  }
}

TEST(Inference, ZerosOfAReluArePositive) {
  Graph g;
  g.tap("embedding", g.relu(g.conv("c", g.input(3, 8, 8), {.out = 16, .bias = true})));
  const at::Tensor values = InferenceNetwork(filled(g), 2).infer(waves(2, g));
  const at::Tensor zeros = values.eq(0);
  EXPECT_GT(zeros.sum().item<std::int64_t>(), 0);
  EXPECT_FALSE(values.signbit().any().item<bool>());
}

TEST(Inference, StepsAreTimedAndTheirMultiplyAddsAreThoseOfTheGraph) {
  const TorchThreads restore;
  const Graph g = small_network();
  const InferenceNetwork frozen(filled(g), 3);
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    const std::vector<InferenceStep> steps = frozen.time_steps(waves(3, g), 2);
    std::int64_t macs = 0;
    for (const InferenceStep& step : steps) {
      EXPECT_GT(step.seconds, 0) << step.layers;
      EXPECT_GT(step.bytes, 4 * element_count(step.output)) << step.layers;
      macs += step.macs;
    }
    EXPECT_EQ(macs, count_macs(g));
  }
  EXPECT_THROW(frozen.time_steps(waves(3, g), 0), std::invalid_argument);
}

TEST(Inference, OtherTapsAndOperationsThatHaveNoKernelRun) {
  Graph g;
  Value x = g.conv("c", g.input(3, 8, 8), {.out = 16, .bias = true});
  g.tap("early", x);
  g.tap("embedding", g.lrn(g.relu(x)));
  const Network net = filled(g);
  const InferenceNetwork frozen(net, 2);
  EXPECT_FALSE(frozen.any_batch());
  EXPECT_TRUE(frozen.any_batch("early"));
  EXPECT_THROW(frozen.time_steps(waves(2, g)), std::invalid_argument);
  const at::Tensor images = waves(2, g);
  for (const char* tap : {"early", "embedding"})
    EXPECT_TRUE(at::allclose(frozen.infer(images, tap), net.infer(images, tap), 1e-5, 1e-6));
  EXPECT_THROW(frozen.infer(at::zeros({1, 3, 9, 8}), "early"), std::invalid_argument);
}

}  // namespace
}  // namespace facebench
