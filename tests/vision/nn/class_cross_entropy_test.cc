#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "facebench/core/isa.h"
#include "facebench/core/random.h"
#include "facebench/nn/head.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/losses.h"

// The heads in float32 go by tiles of classes (class_cross_entropy.h); in float64 they are made of
// torch's operations, which finite differences hold (losses_test.cc). The two must agree.
namespace facebench {
namespace {

at::Tensor random_floats(std::vector<std::int64_t> size, std::string_view purpose, double scale) {
  at::Tensor t = at::empty(size, at::TensorOptions(at::kFloat));
  Random random(5, purpose);
  for (std::int64_t i = 0; i < t.numel(); ++i)
    t.data_ptr<float>()[i] = static_cast<float>(scale * random.normal());
  return t;
}

at::Tensor random_labels(std::int64_t n, std::int64_t classes) {
  at::Tensor t = at::empty({n}, at::TensorOptions(at::kLong));
  Random random(6, "labels");
  for (std::int64_t i = 0; i < n; ++i)
    t.data_ptr<std::int64_t>()[i] =
        static_cast<std::int64_t>(random.uniform(0, static_cast<double>(classes)));
  return t;
}

struct Result {
  at::Tensor loss, logits, predicted, features;
  std::vector<at::Tensor> parameters;
};

// A head in evaluation mode: SphereFace's lambda stands.
std::unique_ptr<Head> some_head(std::string_view name, const Json& options, std::int64_t features,
                                std::int64_t classes, at::ScalarType type) {
  auto head = make_head(name, options, {features, classes, 3, type});
  head->train(false);
  if (type != at::kDouble) return head;
  // The very numbers of the float32 head, so that their rounding is not a difference.
  const auto narrow = make_head(name, options, {features, classes, 3, at::kFloat});
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < head->parameters().size(); ++i) {
    at::Tensor target = head->parameters()[i].tensor;
    target.copy_(narrow->parameters()[i].tensor);
  }
  return head;
}

Result run(Head& head, const at::Tensor& features, const at::Tensor& labels) {
  const at::Tensor x = features.clone().requires_grad_(true);
  const Head::Output out = head.loss(x, labels);
  (out.loss * 0.7).backward();
  Result r{out.loss.detach(), out.logits, out.predicted, x.grad(), {}};
  for (const NamedTensor& p : head.parameters()) r.parameters.push_back(p.tensor.grad());
  return r;
}

Result run(std::string_view name, const Json& options, const at::Tensor& features,
           const at::Tensor& labels, std::int64_t classes) {
  const auto type = features.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return run(*some_head(name, options, features.size(1), classes, type), features, labels);
}

void expect_near(const at::Tensor& a, const at::Tensor& b, double tolerance, const char* what) {
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  const at::Tensor x = a.to(at::kDouble), y = b.to(at::kDouble);
  const double largest = std::max(y.abs().max().item<double>(), 1e-12);
  EXPECT_LT((x - y).abs().max().item<double>() / largest, tolerance) << what;
}

void expect_same(const Result& a, const Result& b, double tolerance) {
  expect_near(a.loss, b.loss, tolerance, "loss");
  expect_near(a.logits, b.logits, tolerance, "logits");
  expect_near(a.features, b.features, tolerance, "gradient of the features");
  for (std::size_t i = 0; i < a.parameters.size(); ++i)
    expect_near(a.parameters[i], b.parameters[i], tolerance, "gradient of a parameter");
}

struct Case {
  const char* name;
  Json options;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name << " " << c.options.dump();
}

class InTiles : public ::testing::TestWithParam<Case> {};

TEST_P(InTiles, EqualsTorchsOperationsInDouble) {
  const auto& [name, options] = GetParam();
  struct Shape {
    std::int64_t images, features, classes;
  };
  // One class, one image; less than a tile; several tiles with rests in every direction; many
  // images of one class.
  for (const auto& [n, d, c] :
       {Shape{1, 1, 1}, Shape{1, 5, 7}, Shape{33, 20, 14}, Shape{40, 64, 3}, Shape{70, 67, 1001}}) {
    const at::Tensor x = random_floats({n, d}, "features", 1.5), y = random_labels(n, c);
    SCOPED_TRACE(fmt::format("{} images, {} features, {} classes", n, d, c));
    const Result ours = run(name, options, x, y, c);
    const Result reference = run(name, options, x.to(at::kDouble), y, c);
    expect_same(ours, reference, 3e-5);
    EXPECT_TRUE(ours.predicted.equal(ours.logits.argmax(1)));
  }
}

TEST_P(InTiles, Bfloat16IsNearAndFloat32InTheMargin) {
  const auto& [name, options] = GetParam();
  const at::Tensor x = random_floats({50, 130}, "half", 1.5).to(at::kBFloat16);
  const at::Tensor y = random_labels(50, 301);
  const Result ours = run(name, options, x, y, 301);
  EXPECT_EQ(ours.loss.scalar_type(), at::kFloat);
  // 2^-9 is the rounding of a factor; gradients are sums of many products.
  expect_same(ours, run(name, options, x.to(at::kDouble), y, 301), 0.02);
}

TEST_P(InTiles, ThreadsChangeRoundingAloneAndRepeat) {
  const auto& [name, options] = GetParam();
  const at::Tensor x = random_floats({20, 32}, "threads", 1.5), y = random_labels(20, 700);
  const int before = at::get_num_threads();
  std::vector<Result> results;
  for (const int threads : {1, 3, 3}) {
    at::set_num_threads(threads);
    results.push_back(run(name, options, x, y, 700));
  }
  at::set_num_threads(before);
  expect_same(results[0], results[1], 1e-5);
  EXPECT_TRUE(results[1].loss.equal(results[2].loss));
  EXPECT_TRUE(results[1].features.equal(results[2].features));
  for (std::size_t i = 0; i < results[1].parameters.size(); ++i)
    EXPECT_TRUE(results[1].parameters[i].equal(results[2].parameters[i]));
}

INSTANTIATE_TEST_SUITE_P(
    All, InTiles,
    ::testing::Values(
        Case{"softmax", {}}, Case{"softmax", {{"bias", false}}}, Case{"center", {{"weight", 0.3}}},
        Case{"sphereface", {{"lambda_base", 0}, {"lambda_min", 0}}},
        Case{"sphereface", {{"m", 3}, {"lambda_min", 2}, {"lambda_base", 0}}}, Case{"cosface", {}},
        Case{"cosface", {{"s", 8}, {"m", 0}}}, Case{"arcface", {}},
        Case{"arcface", {{"past_pi", "wrap"}}}, Case{"arcface", {{"past_pi", "easy"}}},
        Case{"arcface", {{"gradient", "constant"}}}, Case{"curricularface", {{"s", 16}}},
        Case{"subcenter_arcface", {}}, Case{"subcenter_arcface", {{"k", 2}, {"s", 16}}},
        Case{"uniface", {}}, Case{"uniface", {{"s", 8}, {"l", 0.3}, {"r", 1e-4}}}));

// Each instruction set's kernels against double, with rests in every direction.
TEST(ClassCrossEntropy, EveryInstructionSet) {
  const at::Tensor x = random_floats({37, 45}, "isa", 1.5), y = random_labels(37, 500);
  const Isa before = active_isa();
  for (const std::string name : {"arcface", "curricularface", "subcenter_arcface", "uniface"}) {
    const Result reference = run(name, {}, x.to(at::kDouble), y, 500);
    for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512, Isa::avx512bf16}) {
      if (isa > supported_isa()) break;
      SCOPED_TRACE(name + " " + std::string(isa_name(isa)));
      force_isa(isa);
      expect_same(run(name, {}, x, y, 500), reference, 3e-5);
      expect_same(run(name, {}, x.to(at::kBFloat16), y, 500), reference, 0.02);
    }
    force_isa(before);
  }
}

// Where training has gone well a loss is far below the rounding of its logits.
TEST(ClassCrossEntropy, SmallLossesKeepTheirDigits) {
  auto head = some_head("softmax", {{"bias", false}}, 4, 300, at::kFloat);
  const at::NoGradGuard no_grad;
  at::Tensor weight = head->parameters()[0].tensor;
  weight.zero_();
  weight[7].fill_(10);
  const at::Tensor x = at::ones({1, 4}), y = at::full({1}, 7, at::TensorOptions(at::kLong));
  EXPECT_NEAR(head->loss(x, y).loss.item<double>() / (299 * std::exp(-40.0)), 1, 1e-5);
}

TEST(ClassCrossEntropy, OwnClassDecidesThePrediction) {
  auto head = some_head("cosface", {}, 2, 4, at::kFloat);
  const at::NoGradGuard no_grad;
  at::Tensor weight = head->parameters()[0].tensor;
  weight.copy_(at::tensor({1.0F, 0.0F, 0.0F, 1.0F, 1.0F, 0.0F, -1.0F, 0.0F}).view({4, 2}));
  // Images along the axes: rows 0 and 2 are equal, the first of them is predicted.
  const at::Tensor x = at::tensor({3.0F, 0.0F, 3.0F, 0.0F, 0.0F, 2.0F}).view({3, 2});
  const at::Tensor y = at::tensor({0, 2, 3}, at::TensorOptions(at::kLong));
  EXPECT_TRUE(
      head->loss(x, y).predicted.equal(at::tensor({0, 0, 1}, at::TensorOptions(at::kLong))));
}

TEST(ClassCrossEntropy, GradientsOnlyWhereTheyAreWanted) {
  const at::Tensor x = random_floats({9, 12}, "wanted", 1), y = random_labels(9, 40);
  auto head = some_head("softmax", {}, 12, 40, at::kFloat);
  const Result all = run(*head, x, y);
  head = some_head("softmax", {}, 12, 40, at::kFloat);
  at::Tensor weight = head->parameters()[0].tensor;
  weight.set_requires_grad(false);
  EXPECT_TRUE(run(*head, x, y).features.equal(all.features));
  EXPECT_FALSE(weight.grad().defined());
  weight.set_requires_grad(true);
  head->loss(x, y).loss.backward();
  EXPECT_TRUE((weight.grad() * 0.7).allclose(all.parameters[0], 1e-5, 1e-7));
}

TEST(ClassCrossEntropy, SecondDerivativesAreRefused) {
  auto head = some_head("cosface", {}, 6, 9, at::kFloat);
  const at::Tensor x = random_floats({3, 6}, "second", 1).requires_grad_(true);
  const at::Tensor loss = head->loss(x, random_labels(3, 9)).loss;
  EXPECT_THROW(loss.backward({}, /*retain_graph=*/true, /*create_graph=*/true), std::logic_error);
}

}  // namespace
}  // namespace facebench
