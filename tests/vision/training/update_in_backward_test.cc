// A class weight that is changed in the backward pass, against loss.backward() and step(): the same
// bits.

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "facebench/core/random.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/losses.h"
#include "facebench/training/head_memory.h"
#include "facebench/training/optimizer.h"
#include "nn/thread_communicator.h"

namespace facebench {
namespace {

// Several tiles of classes, with rests in every direction.
constexpr std::int64_t kImages = 21, kWidth = 67, kPeople = 503;
constexpr double kRate = 0.3;

struct Given {
  at::Tensor features, labels;
};
Given images_of_step(int step) {
  Given given{at::empty({kImages, kWidth}, at::kFloat), at::empty({kImages}, at::kLong)};
  Random random(4, "early", {static_cast<std::uint64_t>(step)});
  for (std::int64_t i = 0; i < given.features.numel(); ++i)
    given.features.data_ptr<float>()[i] = static_cast<float>(random.normal());
  for (std::int64_t i = 0; i < kImages; ++i)
    given.labels.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(kPeople));
  return given;
}

std::vector<TrainedParameter> with_kinds(const Head& head) {
  std::vector<TrainedParameter> result;
  for (const PartialTensor& p : head.parameters())
    result.push_back({p, p.tensor.dim() == 1 ? ParameterKind::bias : ParameterKind::weight});
  return result;
}

// What some steps leave: everything that the optimizer changes, and of each step the gradient of
// the features and the norm of all gradients.
struct Left {
  std::vector<at::Tensor> tensors;
  std::vector<double> norms;
};

Left some_steps(Head& head, const OptimizerOptions& options, Communicator& communicator,
                bool early) {
  Optimizer optimizer(with_kinds(head), options);
  Left left;
  for (int step = 0; step < 4; ++step) {
    const Given given = images_of_step(step);
    const std::int64_t rank = communicator.rank(), size = communicator.size();
    const at::Tensor x =
        given.features.slice(0, rank, std::nullopt, size).clone().requires_grad_(true);
    const at::Tensor y = given.labels.slice(0, rank, std::nullopt, size).contiguous();
    optimizer.zero_grad();
    const at::Tensor loss = head.loss(x, y, {rank, size}).loss;
    if (early)
      optimizer.backward(loss, head, kRate, /*measured=*/true);
    else
      loss.backward();
    EXPECT_EQ(head.class_weight().grad().defined(), !early);
    left.norms.push_back(optimizer.gradient_norm(communicator));
    optimizer.step(kRate);
    left.tensors.push_back(x.grad());
  }
  for (const PartialTensor& p : head.parameters()) left.tensors.push_back(p.tensor.detach());
  for (const PartialTensor& p : optimizer.state()) left.tensors.push_back(p.tensor);
  return left;
}

void expect_same_bits(const Left& a, const Left& b) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (std::size_t i = 0; i < a.tensors.size(); ++i)
    EXPECT_TRUE(a.tensors[i].equal(b.tensors[i])) << i;
  for (std::size_t i = 0; i < a.norms.size(); ++i)
    EXPECT_NEAR(a.norms[i], b.norms[i], 1e-5 * b.norms[i]);  // sums of floats in another order
}

OptimizerOptions rule(const std::string& name) {
  OptimizerOptions options;
  options.weight_decay = 0.01;
  if (name == "adam" || name == "adamw") options.name = name;
  if (name == "caffe") options.momentum_rule = name;
  options.nesterov = name == "nesterov";
  return options;
}

TEST(UpdateInBackward, SameBitsOfEveryRule) {
  SingleProcess alone;
  for (const std::string name : {"sgd", "nesterov", "caffe", "adam", "adamw"}) {
    SCOPED_TRACE(name);
    std::vector<Left> left;
    for (const bool early : {true, false})
      left.push_back(
          some_steps(*make_head("softmax", {}, {kWidth, kPeople}), rule(name), alone, early));
    expect_same_bits(left[0], left[1]);
  }
}

TEST(UpdateInBackward, SameBitsOfEveryLossInTiles) {
  SingleProcess alone;
  int in_tiles = 0;
  for (const LossEntry& entry : losses().entries()) {
    if (!make_head(entry.name, {}, {kWidth, kPeople})->updates_in_backward()) continue;
    SCOPED_TRACE(entry.name);
    ++in_tiles;
    std::vector<Left> left;
    for (const bool early : {true, false})
      left.push_back(
          some_steps(*make_head(entry.name, {}, {kWidth, kPeople}), rule("sgd"), alone, early));
    expect_same_bits(left[0], left[1]);
  }
  EXPECT_GE(in_tiles, 12);
}

TEST(UpdateInBackward, SameBitsOfSplitClasses) {
  ThreadProcesses(2).run([](Communicator& communicator) {
    HeadShape shape{kWidth, kPeople};
    shape.processes = &communicator;
    shape.split_classes = true;
    const auto early = make_head("arcface", {}, shape), plain = make_head("arcface", {}, shape);
    const Left left = some_steps(*early, rule("sgd"), communicator, true);
    expect_same_bits(left, some_steps(*plain, rule("sgd"), communicator, false));
    EXPECT_EQ(head_memory(*early, kImages, 1, /*early=*/true).gradients, 0);
    EXPECT_EQ(head_memory(*early, kImages).gradients, early->class_weight().nbytes());
  });
}

// Where the gradient must be seen whole, or is not computed in tiles, it is stored.
TEST(UpdateInBackward, StoresTheGradientWhereItMust) {
  HeadShape sampled{kWidth, kPeople};
  sampled.split_classes = true;
  sampled.sample_rate = 0.5;
  OptimizerOptions clipped = rule("sgd");
  clipped.clip_norm = 1;
  struct Case {
    std::unique_ptr<Head> head;
    OptimizerOptions options;
  };
  std::vector<Case> cases;
  cases.push_back({make_head("arcface", {}, {kWidth, kPeople}), clipped});
  cases.push_back(
      {make_head("sphereface", {{"gradient", "caffe"}}, {kWidth, kPeople}), rule("sgd")});
  cases.push_back({make_head("arcface", {}, {kWidth, kPeople, 0, at::kDouble}), rule("sgd")});
  cases.push_back({make_head("arcface", {}, sampled), rule("sgd")});
  for (const auto& [head, options] : cases) {
    SCOPED_TRACE(head->name());
    Optimizer optimizer(with_kinds(*head), options);
    const Given given = images_of_step(0);
    const at::Tensor before = head->class_weight().detach().clone();
    const at::Tensor loss = head->loss(given.features, given.labels).loss;
    optimizer.backward(loss, *head, kRate);
    EXPECT_TRUE(head->class_weight().grad().defined());
    if (head->name() == "sphereface") continue;  // normalises its weights
    EXPECT_TRUE(head->class_weight().equal(before));
  }
}

TEST(UpdateInBackward, RefusesAWeightThatIsUsedTwice) {
  const auto head = make_head("arcface", {}, {kWidth, kPeople});
  Optimizer optimizer(with_kinds(*head), rule("sgd"));
  const auto loss = [&](int step) {
    const Given given = images_of_step(step);
    return head->loss(given.features, given.labels).loss;
  };
  EXPECT_THROW(optimizer.backward(loss(0) + loss(1), *head, kRate), std::logic_error);
  EXPECT_THROW(optimizer.backward(loss(0) + head->class_weight().sum(), *head, kRate),
               std::logic_error);
  // Afterwards all is as ever.
  optimizer.zero_grad();
  loss(2).backward();
  EXPECT_TRUE(head->class_weight().grad().defined());
}

}  // namespace
}  // namespace facebench
