#include <gtest/gtest.h>

#include <cmath>

#include "facebench/nn/internal/aten.h"
#include "facebench/nn/networks.h"
#include "facebench/training/optimizer.h"

namespace facebench {
namespace {

TEST(Optimizer, EqualsTheRuleByHand) {
  at::Tensor weight = at::full({2, 2}, 2.0, at::kDouble).requires_grad_(true);
  at::Tensor bias = at::full({2}, 1.0, at::kDouble).requires_grad_(true);
  OptimizerOptions options;
  options.momentum = 0.9;
  options.weight_decay = 0.1;
  options.decay_biases = false;
  const std::vector<TrainedParameter> parameters{{"weight", weight},
                                                 {{{"bias", bias}}, ParameterKind::bias}};
  Optimizer optimizer(parameters, options);
  double w = 2, vw = 0, b = 1, vb = 0;
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    (3 * weight.sum() + 2 * bias.sum()).backward();
    optimizer.step(0.05);
    vw = 0.9 * vw + 3 + 0.1 * w;
    w -= 0.05 * vw;
    vb = 0.9 * vb + 2;
    b -= 0.05 * vb;
    EXPECT_NEAR(weight[1][1].item<double>(), w, 1e-14);
    EXPECT_NEAR(bias[0].item<double>(), b, 1e-14);
  }
}

// Caffe's ComputeUpdateValue by hand: decay by decay_mult, rate by lr_mult, the rate inside of the
// momentum; the rate changes at every step, up from zero too.
TEST(Optimizer, EqualsCaffesRuleByHand) {
  OptimizerOptions options;
  options.momentum = 0.9;
  options.momentum_rule = "caffe";
  options.weight_decay = 0.1;
  options.decay_biases = false;
  options.decay_slopes = false;
  options.bias_lr_mult = 2;
  options.residual_bias_lr_mult = 0;
  struct Case {
    ParameterKind kind;
    double lr_mult, decay_mult;
  };
  const Case cases[] = {{ParameterKind::weight, 1, 1},
                        {ParameterKind::bias, 2, 0},
                        {ParameterKind::residual_bias, 0, 0},
                        {ParameterKind::norm, 1, 1},
                        {ParameterKind::slope, 1, 0}};
  for (const bool nesterov : {false, true}) {
    options.nesterov = nesterov;
    std::vector<TrainedParameter> parameters;
    for (const Case& c : cases)
      parameters.push_back({{{"p" + std::to_string(parameters.size()),
                              at::full({2}, 2.0, at::kDouble).requires_grad_(true)}},
                            c.kind});
    Optimizer optimizer(parameters, options);
    EXPECT_EQ(optimizer.state().size(), 4u);  // what is frozen has none
    double w[] = {2, 2, 2, 2, 2}, history[5] = {};
    for (const double lr : {0.0, 0.05, 0.05, 0.005}) {
      optimizer.zero_grad();
      for (const TrainedParameter& p : parameters) EXPECT_FALSE(p.tensor.grad().defined());
      for (const TrainedParameter& p : parameters) (1.5 * p.tensor.square().sum()).backward();
      optimizer.step(lr);
      for (std::size_t i = 0; i < 5; ++i) {
        const double diff = 3 * w[i] + 0.1 * cases[i].decay_mult * w[i];
        const double rate = lr * cases[i].lr_mult, before = history[i];
        history[i] = rate * diff + 0.9 * history[i];
        w[i] -= nesterov ? (1 + 0.9) * history[i] - 0.9 * before : history[i];
        EXPECT_NEAR(parameters[i].tensor[1].item<double>(), w[i], 1e-14) << i << " " << lr;
      }
    }
    EXPECT_EQ(parameters[2].tensor[0].item<double>(), 2);
  }
}

// Kingma & Ba's algorithm 1 and Loshchilov & Hutter's algorithm 2 by hand, with a rate that
// changes.
TEST(Optimizer, EqualsAdamByHand) {
  for (const std::string name : {"adam", "adamw"}) {
    OptimizerOptions options;
    options.name = name;
    options.weight_decay = 0.1;
    options.beta1 = 0.8;
    options.beta2 = 0.95;
    options.eps = 1e-3;
    at::Tensor weight = at::full({2, 2}, 2.0, at::kDouble).requires_grad_(true);
    at::Tensor unused = at::full({2}, 7.0, at::kDouble).requires_grad_(true);
    const std::vector<TrainedParameter> parameters{{"weight", weight}, {"unused", unused}};
    Optimizer optimizer(parameters, options);
    ASSERT_EQ(optimizer.state().size(), 5u);
    EXPECT_EQ(optimizer.state()[1].name, "second_moment.weight");
    double w = 2, m = 0, v = 0;
    int t = 0;
    for (const double lr : {0.05, 0.05, 0.01}) {
      optimizer.zero_grad();
      (1.5 * weight.square().sum()).backward();
      optimizer.step(lr);
      ++t;
      double g = 3 * w;
      if (name == "adam")
        g += 0.1 * w;
      else
        w -= lr * 0.1 * w;
      m = 0.8 * m + 0.2 * g;
      v = 0.95 * v + 0.05 * g * g;
      w -= lr * (m / (1 - std::pow(0.8, t))) / (std::sqrt(v / (1 - std::pow(0.95, t))) + 1e-3);
      EXPECT_NEAR(weight[1][1].item<double>(), w, 1e-13) << name << " " << t;
    }
    EXPECT_EQ(unused[0].item<double>(), 7);
    EXPECT_EQ(optimizer.state()[4].tensor.item<float>(), 3);
    options.nesterov = true;
    EXPECT_THROW(Optimizer(parameters, options), std::invalid_argument);
  }
}

// A sparse gradient moves its rows as a dense one of the same values would, and no others.
TEST(Optimizer, RowsOfASparseGradientMoveAlone) {
  for (const std::string name : {"sgd", "adam", "adamw"}) {
    OptimizerOptions options;
    options.name = name;
    const at::Tensor start = at::arange(8, at::kDouble).view({4, 2});
    at::Tensor all = start.clone().requires_grad_(true), some = start.clone().requires_grad_(true);
    const std::vector<TrainedParameter> of_all{{"w", all}}, of_some{{"w", some}};
    Optimizer dense(of_all, options), sparse(of_some, options);
    const at::Tensor index = at::tensor({1, 3}, at::kLong),
                     values = at::full({2, 2}, 0.5, at::kDouble);
    for (int i = 0; i < 3; ++i) {
      all.mutable_grad() = at::zeros_like(all).index_copy(0, index, values);
      some.mutable_grad() = at::sparse_coo_tensor(index.view({1, 2}), values, {4, 2});
      dense.step(0.1);
      sparse.step(0.1);
    }
    EXPECT_TRUE(some.detach().index_select(0, index).equal(all.detach().index_select(0, index)))
        << name;
    EXPECT_TRUE(some.detach()[0].equal(start[0])) << name;
  }
}

TEST(Optimizer, KindsComeFromTheGraph) {
  std::map<std::string, ParameterKind> kinds;
  for (const char* name : {"sphereface10", "resnet18"})
    for (const TensorSpec& spec : build_graph(name).tensors())
      kinds[spec.name] = parameter_kind(spec);
  EXPECT_EQ(kinds.at("conv2_1.weight"), ParameterKind::weight);
  EXPECT_EQ(kinds.at("conv2_1.bias"), ParameterKind::bias);
  EXPECT_EQ(kinds.at("conv2_2.bias"), ParameterKind::residual_bias);
  EXPECT_EQ(kinds.at("conv2_3.bias"), ParameterKind::residual_bias);
  EXPECT_EQ(kinds.at("relu2_2.weight"), ParameterKind::slope);
  EXPECT_EQ(kinds.at("fc5.bias"), ParameterKind::bias);
  EXPECT_EQ(kinds.at("layer1.0.bn1.weight"), ParameterKind::norm);
  EXPECT_EQ(kinds.at("layer1.0.bn1.bias"), ParameterKind::norm);
}

TEST(Optimizer, ChannelsLastWeightsKeepTheirPlaces) {
  // The gradient arrives in another memory layout than the weight has.
  at::Tensor weight = at::zeros({2, 3, 2, 2}, at::kDouble)
                          .contiguous(at::MemoryFormat::ChannelsLast)
                          .requires_grad_(true);
  const std::vector<TrainedParameter> parameters{{"weight", weight}};
  OptimizerOptions options;
  options.weight_decay = 0;
  Optimizer optimizer(parameters, options);
  const at::Tensor gradient = at::arange(24, at::kDouble).view({2, 3, 2, 2});
  weight.mutable_grad() = gradient.clone();
  optimizer.step(1);
  EXPECT_TRUE(weight.detach().equal(-gradient));
}

TEST(Optimizer, ClipsTheNormOfAllTogether) {
  at::Tensor a = at::zeros({1, 1}, at::kDouble).requires_grad_(true);
  at::Tensor b = at::zeros({1}, at::kDouble).requires_grad_(true);
  const std::vector<TrainedParameter> parameters{{"a", a}, {"b", b}};
  OptimizerOptions options;
  options.clip_norm = 1;
  Optimizer optimizer(parameters, options);
  (3 * a.sum() + 4 * b.sum()).backward();
  SingleProcess alone;
  EXPECT_NEAR(optimizer.clip(alone), 5, 1e-12);
  EXPECT_NEAR(a.grad().item<double>(), 0.6, 1e-12);
  EXPECT_NEAR(b.grad().item<double>(), 0.8, 1e-12);
}

}  // namespace
}  // namespace facebench
