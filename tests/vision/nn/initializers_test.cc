#include "facebench/nn/initializers.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "facebench/core/error.h"
#include "facebench/nn/network.h"
#include "facebench/nn/networks.h"

namespace facebench {
namespace {

TEST(Initializers, HaveTheMomentsTheyPromise) {
  const TensorSpec conv{"c.weight", TensorRole::weight, {64, 32, 3, 3}, Op::conv, 288, 576};
  struct Case {
    const char* name;
    double deviation, bound;  // bound 0: normal
  };
  const Case cases[] = {
      {"torch", 1 / std::sqrt(3 * 288.0), 1 / std::sqrt(288.0)},
      {"kaiming_normal_fan_out", std::sqrt(2 / 576.0), 0},
      {"kaiming_normal_fan_in", std::sqrt(2 / 288.0), 0},
      {"msra", std::sqrt(2 / 288.0), 0},
      {"xavier_uniform", std::sqrt(2 / 864.0), std::sqrt(6 / 864.0)},
      {"xavier_normal", std::sqrt(2 / 864.0), 0},
      {"xavier_caffe", 1 / std::sqrt(288.0), std::sqrt(3 / 288.0)},
      {"gaussian_0.01", 0.01, 0},
      {"truncated_normal_0.1", 0.1 * 0.87962566, 0.2},  // of a normal cut off at two deviations
      {"msra_fan_out", std::sqrt(2 / 576.0), 0},
      {"resnet_caffe", std::sqrt(2 / 288.0), 0},
      {"residual_caffe", 1 / std::sqrt(288.0), std::sqrt(3 / 288.0)},
      {"alexnet_slim", std::sqrt(2 / 864.0), std::sqrt(6 / 864.0)},
      {"cifar10_tensorflow", 0.05 * 0.87962566, 0.1},
      {"cifar10_caffe", 0.01, 0},
      {"gaussian_0.1", 0.1, 0},
      {"arcface_torch", 0.1, 0},
      {"transformer", 1 / std::sqrt(3 * 288.0), 1 / std::sqrt(288.0)},
  };
  ASSERT_EQ(std::size(cases), initializers().entries().size());
  for (const Case& c : cases) {
    std::vector<float> v(64 * 288);
    initialize(conv, c.name, 1, v);
    double sum = 0, squares = 0, largest = 0;
    for (const float x : v) {
      sum += x;
      squares += double{x} * x;
      largest = std::max(largest, std::abs(double{x}));
    }
    const double n = static_cast<double>(v.size());
    EXPECT_NEAR(sum / n, 0, 5 * c.deviation / std::sqrt(n)) << c.name;
    EXPECT_NEAR(std::sqrt(squares / n) / c.deviation, 1, 0.03) << c.name;
    if (c.bound > 0)
      EXPECT_LE(largest, c.bound * (1 + 1e-6)) << c.name;
    else
      EXPECT_GT(largest, 3 * c.deviation) << c.name;
  }
}

TEST(Initializers, DependOnSeedAndNameAlone) {
  Network a = build_network("small4", {}, "msra", 1), b = build_network("small4", {}, "msra", 1);
  Network c = build_network("small4", {.classes = 3}, "msra", 1);
  EXPECT_TRUE(at::equal(a.tensor("conv3.weight"), b.tensor("conv3.weight")));
  EXPECT_TRUE(at::equal(a.tensor("conv3.weight"), c.tensor("conv3.weight")));
  Network d = build_network("small4", {}, "msra", 2);
  EXPECT_FALSE(at::equal(a.tensor("conv3.weight"), d.tensor("conv3.weight")));
  EXPECT_FLOAT_EQ(a.tensor("prelu1.weight").mean().item<float>(), 0.25F);
  EXPECT_THROW(build_network("small4", {}, "mrsa"), std::invalid_argument);
}

}  // namespace
}  // namespace facebench
