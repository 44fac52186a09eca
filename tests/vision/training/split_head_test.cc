// Heads whose classes are split over processes, against one head with all classes, and with sampled
// classes against a transcription of the formula.

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "facebench/core/random.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/losses.h"
#include "facebench/training/head_memory.h"
#include "facebench/training/internal/sum_gradients.h"
#include "facebench/training/optimizer.h"
#include "nn/thread_communicator.h"

namespace facebench {
namespace {

constexpr std::int64_t kFeatures = 12, kClasses = 23;
constexpr int kSteps = 10;

OptimizerOptions some_optimizer() {
  OptimizerOptions options;
  options.momentum = 0.9;
  options.weight_decay = 0.01;
  options.clip_norm = 0.5;  // takes the norm over all processes
  return options;
}

// The images of a step; every fifth batch has three, fewer than there may be processes.
struct Images {
  at::Tensor features, labels;
};
Images images_of(int step, at::ScalarType type) {
  const std::int64_t n = step % 5 == 4 ? 3 : 17;
  Random random(3, "split", {static_cast<std::uint64_t>(step)});
  Images images{at::empty({n, kFeatures}, at::kDouble), at::empty({n}, at::kLong)};
  for (std::int64_t i = 0; i < n * kFeatures; ++i)
    images.features.data_ptr<double>()[i] = 1.5 * random.normal();
  for (std::int64_t i = 0; i < n; ++i)
    images.labels.data_ptr<std::int64_t>()[i] =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(kClasses)));
  images.features = images.features.to(type);
  return images;
}

std::vector<TrainedParameter> trained(const Head& head) {
  std::vector<TrainedParameter> result;
  for (const PartialTensor& p : head.parameters()) {
    const bool vector = p.tensor.dim() == 1;
    result.push_back({p, vector ? ParameterKind::bias : ParameterKind::weight});
  }
  return result;
}

// What a training of a head leaves: losses, how many were right, gradients of the features, and at
// the end parameters and momentum with all their rows, and buffers.
struct Course {
  std::vector<double> losses, correct;
  std::vector<at::Tensor> observed;  // cosines, targets and the highest others, each in a row
  std::vector<at::Tensor> gradients;
  std::vector<at::Tensor> parameters, momentum, buffers;
};

// Trains a head in this process, on every size()-th image of each batch.
Course train_head(Head& head, Communicator& communicator, at::ScalarType type) {
  Optimizer optimizer(trained(head), some_optimizer());
  Course course;
  for (int step = 0; step < kSteps; ++step) {
    const Images images = images_of(step, type);
    const std::int64_t rank = communicator.rank(), size = communicator.size();
    const at::Tensor x = images.features.slice(0, rank, std::nullopt, size).clone();
    const at::Tensor labels = images.labels.slice(0, rank, std::nullopt, size).contiguous();
    const at::Tensor features = x.requires_grad_(true);
    optimizer.zero_grad();
    head.observe(true);
    const Head::Output out = head.loss(features, labels, {rank, size});
    EXPECT_EQ(out.images, images.labels.size(0));
    out.loss.backward();
    sum_gradients(head.parameters(), communicator);
    optimizer.clip(communicator);
    optimizer.step(0.1);
    course.losses.push_back(out.loss.item<double>());
    at::Tensor correct = out.predicted.eq(labels).sum().view({1});
    communicator.all_reduce(std::span(&correct, 1));
    course.correct.push_back(correct.item<double>());
    // Back into the order of the batch.
    const std::vector<at::Tensor> seen{out.cosine, out.target, out.highest};
    at::Tensor observed = at::zeros({3, images.labels.size(0)}, at::kDouble);
    observed.slice(1, rank, std::nullopt, size).copy_(at::stack(seen));
    communicator.all_reduce(std::span(&observed, 1));
    course.observed.push_back(observed);
    at::Tensor gradient = at::zeros_like(images.features);
    gradient.slice(0, rank, std::nullopt, size).copy_(features.grad());
    communicator.all_reduce(std::span(&gradient, 1));
    course.gradients.push_back(gradient);
  }
  const auto momentum = optimizer.state();
  const auto all = [&](const PartialTensor& whose, const at::Tensor& t) {
    return whose.split() ? at::cat(communicator.all_gather(t.detach())) : t.detach();
  };
  for (std::size_t i = 0; i < head.parameters().size(); ++i) {
    const PartialTensor& p = head.parameters()[i];
    course.parameters.push_back(all(p, p.tensor));
    course.momentum.push_back(all(p, momentum[i].tensor));
  }
  for (const HeadBuffer& b : head.buffers()) course.buffers.push_back(all(b, b.tensor));
  return course;
}

void expect_near(const at::Tensor& a, const at::Tensor& b, double tolerance, const char* what) {
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  if (b.numel() == 0) return;  // a process without images
  const double largest = std::max(1.0, b.abs().max().item<double>());
  EXPECT_LT((a - b).abs().max().item<double>() / largest, tolerance) << what;
}

void expect_same(const Course& a, const Course& b, double tolerance) {
  for (std::size_t i = 0; i < b.losses.size(); ++i) {
    EXPECT_NEAR(a.losses[i], b.losses[i], tolerance * std::max(1.0, b.losses[i])) << "step " << i;
    EXPECT_EQ(a.correct[i], b.correct[i]) << "step " << i;
    expect_near(a.gradients[i], b.gradients[i], tolerance, "features");
    expect_near(a.observed[i], b.observed[i], 10 * tolerance, "observed");
  }
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (std::size_t i = 0; i < b.parameters.size(); ++i) {
    expect_near(a.parameters[i], b.parameters[i], tolerance, "parameter");
    expect_near(a.momentum[i], b.momentum[i], tolerance, "momentum");
  }
  ASSERT_EQ(a.buffers.size(), b.buffers.size());
  for (std::size_t i = 0; i < b.buffers.size(); ++i)
    expect_near(a.buffers[i], b.buffers[i], tolerance, "buffer");
}

// Options at which differences do not grow from step to step.
Json calm(const LossEntry& entry) {
  Json options = Json::object();
  for (const OptionField& field : entry.options->fields)
    if (field.name == "s") options["s"] = 8;
  return options;
}

class SplitHead : public ::testing::TestWithParam<std::string> {};

TEST_P(SplitHead, EqualsOneHeadWithAllClasses) {
  const LossEntry& entry = losses().at(GetParam());
  for (const auto& [type, tolerance] :
       {std::pair(at::kFloat, 1e-5), std::pair(at::kDouble, 1e-11)}) {
    const HeadShape shape{kFeatures, kClasses, 5, type};
    SingleProcess alone;
    const auto whole = make_head(entry.name, calm(entry), shape);
    const Course wanted = train_head(*whole, alone, type);
    // Each number of processes for one loss by class, one by angle, and those that change other
    // logits too; three, which neither classes nor images divide by, for the others.
    const bool each = std::set<std::string>{"softmax", "arcface", "curricularface",
                                            "subcenter_arcface", "uniface"}
                          .contains(entry.name);
    for (int processes = each ? 1 : 3; processes <= (each ? 4 : 3); ++processes) {
      SCOPED_TRACE(std::to_string(processes) + " processes");
      ThreadProcesses(processes).run([&](Communicator& communicator) {
        HeadShape own = shape;
        own.processes = &communicator;
        own.split_classes = true;
        const auto head = make_head(entry.name, calm(entry), own);
        EXPECT_TRUE(head->takes_whole_batch());
        expect_same(train_head(*head, communicator, type), wanted, tolerance);
      });
    }
  }
}

TEST(SplitHeads, CentresMoveAsFacenetsToo) {
  const HeadShape shape{kFeatures, kClasses, 5, at::kDouble};
  const Json options{{"update", "facenet"}, {"weight", 0.3}, {"alpha", 0.1}};
  SingleProcess alone;
  const Course wanted = train_head(*make_head("center", options, shape), alone, at::kDouble);
  ThreadProcesses(3).run([&](Communicator& communicator) {
    HeadShape own = shape;
    own.processes = &communicator;
    own.split_classes = true;
    const auto head = make_head("center", options, own);
    EXPECT_EQ(head->buffers()[0].tensor.size(0), communicator.rank() == 0 ? 7 : 8);
    expect_same(train_head(*head, communicator, at::kDouble), wanted, 1e-11);
  });
}

// Losses that say that they cannot be split, in one sentence.
const std::set<std::string> kNotSplit{"triplet"};

std::vector<std::string> split_losses() {
  std::vector<std::string> names;
  for (const LossEntry& entry : losses().entries())
    if (!kNotSplit.contains(entry.name)) names.push_back(entry.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, SplitHead, ::testing::ValuesIn(split_losses()),
                         [](const auto& info) { return info.param; });

TEST(SplitHeads, LossesThatCannotBeSplitSaySo) {
  HeadShape shape{kFeatures, kClasses};
  shape.split_classes = true;
  for (const std::string& name : kNotSplit)
    EXPECT_THROW(make_head(name, {}, shape), std::invalid_argument) << name;
  EXPECT_THROW(make_head("sphereface", {{"gradient", "caffe"}}, shape), std::invalid_argument);
  EXPECT_THROW(make_head("center", {{"update", "caffe"}}, shape), std::invalid_argument);
  shape.split_classes = false;
  shape.sample_rate = 0.5;
  EXPECT_THROW(make_head("arcface", {}, shape), std::invalid_argument);
  ThreadProcesses(2).run([&](Communicator& communicator) {
    HeadShape one_class{kFeatures, 1};
    one_class.processes = &communicator;
    one_class.split_classes = true;
    EXPECT_THROW(make_head("arcface", {}, one_class), std::invalid_argument);
  });
}

TEST(SplitHeads, BatchesOfAnySizeInEachProcess) {
  const HeadShape shape{kFeatures, kClasses, 5, at::kDouble};
  const auto whole = make_head("arcface", {{"s", 8}}, shape);
  const Images images = images_of(0, at::kDouble);
  // Sizes 0, 10 and 7; the mean does not go by the order of the images.
  const std::vector<std::int64_t> first{0, 0, 10, 17};
  const at::Tensor x = images.features.clone().requires_grad_(true);
  const at::Tensor loss = whole->loss(x, images.labels).loss;
  loss.backward();
  ThreadProcesses(3).run([&](Communicator& communicator) {
    HeadShape own = shape;
    own.processes = &communicator;
    own.split_classes = true;
    const auto head = make_head("arcface", {{"s", 8}}, own);
    const auto rank = static_cast<std::size_t>(communicator.rank());
    const at::Tensor mine =
        images.features.slice(0, first[rank], first[rank + 1]).clone().requires_grad_(true);
    const Head::Output out = head->loss(mine, images.labels.slice(0, first[rank], first[rank + 1]));
    out.loss.backward();
    EXPECT_NEAR(out.loss.item<double>(), loss.item<double>(), 1e-12);
    EXPECT_EQ(out.predicted.size(0), mine.size(0));
    EXPECT_TRUE(
        at::allclose(mine.grad(), x.grad().slice(0, first[rank], first[rank + 1]), 1e-10, 1e-12));
  });
}

TEST(SplitHeads, MemoryIsThatOfTheProcesssClasses) {
  ThreadProcesses(2).run([](Communicator& communicator) {
    HeadShape shape{10, 1001};
    shape.processes = &communicator;
    shape.split_classes = true;
    shape.sample_rate = 0.1;
    const HeadMemory memory = head_memory(*make_head("cosface", {}, shape), /*images=*/64);
    const std::int64_t rows = communicator.rank() == 0 ? 500 : 501;
    EXPECT_EQ(memory.first_class, communicator.rank() == 0 ? 0 : 500);
    EXPECT_EQ(memory.classes, rows);
    EXPECT_EQ(memory.parameters, rows * 10 * 4 + 8) << "with the number of steps";
    EXPECT_EQ(memory.momentum, rows * 10 * 4);
    EXPECT_EQ(memory.gradients, rows * 10 * 4 * 4 / 10);
    EXPECT_EQ(memory.logits, 50 * 64 * 4);
    EXPECT_EQ(memory.features, 2 * 64 * 10 * 4);
    // Three rows for each class, and which of them a logit is of.
    shape.sample_rate = 1;
    const HeadMemory centers = head_memory(*make_head("subcenter_arcface", {}, shape), 64);
    EXPECT_EQ(centers.first_class, communicator.rank() == 0 ? 0 : 500);
    EXPECT_EQ(centers.classes, rows);
    EXPECT_EQ(centers.parameters, 3 * rows * 10 * 4);
    EXPECT_EQ(centers.gradients, 3 * rows * 10 * 4);
    EXPECT_EQ(centers.logits, rows * 64 * (4 + 1));
    EXPECT_EQ(head_memory(*make_head("uniface", {}, shape), 64).parameters, rows * 10 * 4 + 4);
    const HeadMemory center = head_memory(*make_head("center", {{"bias", false}}, shape), 64);
    EXPECT_EQ(center.parameters, 2 * rows * 10 * 4);
    EXPECT_EQ(center.momentum, rows * 10 * 4);
  });
}

// --- Partial FC

// A loss by its formula: cosines (N, rows of the sampled classes), a row for each class but with
// sub-centers; `kept` is its moving average, `threshold` its learned one.
struct Definition {
  std::string loss;
  Json options;
  at::Tensor (*value)(const at::Tensor& cosine, const at::Tensor& labels,
                      const at::Tensor& threshold, double& kept);
};

at::Tensor hot(const at::Tensor& labels, const at::Tensor& like) {
  return at::one_hot(labels, like.size(1)).to(at::kBool);
}
at::Tensor plus_half(const at::Tensor& cosine) { return (cosine.acos() + 0.5).cos(); }

const std::vector<Definition> kDefinitions{
    {"cosface",
     {{"s", 8}},
     [](const at::Tensor& cosine, const at::Tensor& labels, const at::Tensor&, double&) {
       return at::cross_entropy_loss(8 * at::where(hot(labels, cosine), cosine - 0.35, cosine),
                                     labels);
     }},
    {"subcenter_arcface",
     {{"s", 8}, {"k", 3}, {"past_pi", "wrap"}},
     [](const at::Tensor& cosines, const at::Tensor& labels, const at::Tensor&, double&) {
       const at::Tensor cosine = cosines.unflatten(1, {-1, 3}).amax(2);
       return at::cross_entropy_loss(8 * at::where(hot(labels, cosine), plus_half(cosine), cosine),
                                     labels);
     }},
    {"curricularface",
     {{"s", 8}},
     [](const at::Tensor& cosine, const at::Tensor& labels, const at::Tensor&, double& t) {
       const at::Tensor target = cosine.gather(1, labels.unsqueeze(1));
       t = 0.01 * target.mean().item<double>() + 0.99 * t;
       const at::Tensor moved = plus_half(target);
       const at::Tensor others = at::where(cosine > moved, cosine * (t + cosine), cosine);
       const at::Tensor past = target - std::sin(0.5) * 0.5;
       const at::Tensor own = at::where(target > -std::cos(0.5), moved, past);
       return at::cross_entropy_loss(8 * at::where(hot(labels, cosine), own, others), labels);
     }},
    {"uniface",
     {{"s", 8}},
     [](const at::Tensor& cosine, const at::Tensor& labels, const at::Tensor& b, double&) {
       const at::Tensor own = (8 * (cosine - 0.4) - b).clamp(-8, 8).neg().exp().log1p();
       const at::Tensor other = (8 * cosine - b).clamp(-8, 8).exp().log1p();
       return at::where(hot(labels, cosine), own, other).sum(1).mean();
     }}};

// A loss of the sampled classes alone, and SGD of their rows alone, in torch's operations.
struct Transcription {
  const Definition& definition;
  at::Tensor weight, momentum;
  double threshold = std::log(10 * kRate * kClasses), threshold_momentum = 0, kept = 0;
  double loss = 0;
  at::Tensor by_features;

  static constexpr double kRate = 0.4;

  void step(const Images& images, const at::Tensor& sampled, double lr) {
    const OptimizerOptions o = some_optimizer();
    const std::int64_t each = weight.size(0) / kClasses;
    const at::Tensor index = (sampled.unsqueeze(1) * each + at::arange(each)).flatten();
    const at::Tensor rows = weight.index_select(0, index).requires_grad_(true);
    const at::Tensor x = images.features.clone().requires_grad_(true);
    const at::Tensor b =
        at::full({}, threshold, at::TensorOptions(at::kDouble)).requires_grad_(true);
    const at::Tensor cosine = (x / x.norm(2, {1}, true)).mm((rows / rows.norm(2, {1}, true)).t());
    const at::Tensor value =
        definition.value(cosine, at::searchsorted(sampled, images.labels), b, kept);
    value.backward();
    loss = value.item<double>();
    by_features = x.grad();
    const at::NoGradGuard no_grad;
    const double by_threshold = b.grad().defined() ? b.grad().item<double>() : 0;
    const double norm = std::hypot(rows.grad().norm().item<double>(), by_threshold);
    const double scale = std::min(1.0, o.clip_norm / norm);
    const at::Tensor g = rows.grad() * scale + o.weight_decay * rows;
    const at::Tensor v = o.momentum * momentum.index_select(0, index) + g;
    momentum.index_copy_(0, index, v);
    weight.index_copy_(0, index, rows - lr * v);
    if (!b.grad().defined()) return;
    const double decay = o.decay_biases ? o.weight_decay * threshold : 0;
    threshold_momentum = o.momentum * threshold_momentum + by_threshold * scale + decay;
    threshold -= lr * threshold_momentum;
  }
};

// Trains a sampled head beside its transcription, which is given the classes that it drew.
void expect_transcribed(const Definition& definition, at::ScalarType type, double tolerance,
                        Communicator& communicator) {
  const std::int64_t rank = communicator.rank(), size = communicator.size();
  HeadShape shape{kFeatures, kClasses, 5, type};
  const at::Tensor initial = make_head(definition.loss, definition.options, shape)
                                 ->parameters()[0]
                                 .tensor.detach()
                                 .to(at::kDouble);
  shape.processes = &communicator;
  shape.split_classes = true;
  shape.sample_rate = Transcription::kRate;
  const auto head = make_head(definition.loss, definition.options, shape);
  Optimizer optimizer(trained(*head), some_optimizer());
  Transcription wanted{definition, initial.clone(), at::zeros_like(initial)};
  for (int step = 0; step < kSteps; ++step) {
    const Images images = images_of(step, type);
    const at::Tensor x =
        images.features.slice(0, rank, std::nullopt, size).clone().requires_grad_(true);
    optimizer.zero_grad();
    const at::Tensor loss =
        head->loss(x, images.labels.slice(0, rank, std::nullopt, size).contiguous()).loss;
    loss.backward();
    EXPECT_TRUE(head->parameters()[0].tensor.grad().is_sparse());
    sum_gradients(head->parameters(), communicator);
    optimizer.clip(communicator);
    optimizer.step(0.1);
    const at::Tensor sampled = at::cat(communicator.all_gather(head->sampled_classes()));
    EXPECT_LT(sampled.size(0), kClasses);
    wanted.step({images.features.to(at::kDouble), images.labels}, sampled, 0.1);
    EXPECT_NEAR(loss.item<double>(), wanted.loss, tolerance * std::max(1.0, wanted.loss))
        << definition.loss << ", step " << step;
    expect_near(x.grad().to(at::kDouble), wanted.by_features.slice(0, rank, std::nullopt, size),
                tolerance, "features");
  }
  const PartialTensor& p = head->parameters()[0];
  const auto rows = [&](const at::Tensor& t) {
    return t.slice(0, p.first, p.first + p.tensor.size(0));
  };
  expect_near(p.tensor.detach().to(at::kDouble), rows(wanted.weight), tolerance, "weight");
  expect_near(optimizer.state()[0].tensor.to(at::kDouble), rows(wanted.momentum), tolerance,
              "momentum");
  if (head->parameters().size() > 1) {
    EXPECT_NEAR(head->parameters()[1].tensor.item<double>(), wanted.threshold, tolerance);
    EXPECT_NEAR(optimizer.state()[1].tensor.item<double>(), wanted.threshold_momentum, tolerance);
  }
  if (head->buffers().size() > 1) {  // besides the number of steps
    EXPECT_NEAR(head->buffers()[1].tensor.item<double>(), wanted.kept, tolerance);
  }
}

TEST(PartialFc, EqualsATranscriptionWithTheSameClasses) {
  for (const Definition& definition : kDefinitions)
    for (const auto& [type, tolerance] :
         {std::pair(at::kFloat, 1e-5), std::pair(at::kDouble, 1e-11)}) {
      const bool each = definition.loss == "cosface";
      for (int processes = each ? 1 : 3; processes <= (each ? 4 : 3); ++processes) {
        SCOPED_TRACE(definition.loss + ", " + std::to_string(processes) + " processes");
        ThreadProcesses(processes).run([&](Communicator& communicator) {
          expect_transcribed(definition, type, tolerance, communicator);
        });
      }
    }
}

TEST(PartialFc, KeepsTheBatchsClassesAndDrawsTheOthersEvenly) {
  HeadShape shape{2, 60, 9};
  shape.split_classes = true;
  shape.sample_rate = 0.3;
  const auto head = make_head("cosface", {}, shape);
  const at::Tensor labels = at::tensor({7, 59, 7, 0}, at::kLong), x = at::ones({4, 2});
  std::vector<int> drawn(60, 0);
  constexpr int kDraws = 500;
  for (int i = 0; i < kDraws; ++i) {
    head->loss(x, labels);
    const at::Tensor sampled = head->sampled_classes();
    ASSERT_EQ(sampled.size(0), 18);
    for (std::int64_t k = 0; k < 18; ++k)
      ++drawn[static_cast<std::size_t>(sampled[k].item<std::int64_t>())];
  }
  for (const int label : {0, 7, 59}) EXPECT_EQ(drawn[static_cast<std::size_t>(label)], kDraws);
  // The other 57 share 15 places: 132 times each, with a deviation of 10.
  for (std::size_t j = 0; j < 60; ++j) {
    if (j == 0 || j == 7 || j == 59) continue;
    EXPECT_NEAR(drawn[j], 131.6, 50) << j;
  }
  // More true classes than the rate allows: all of them, and no others.
  head->loss(at::ones({30, 2}), at::arange(30, at::kLong));
  EXPECT_TRUE(head->sampled_classes().equal(at::arange(30, at::kLong)));
  // In evaluation every class takes part.
  head->train(false);
  EXPECT_EQ(head->loss(x, labels).logits.size(1), 60);
}

TEST(PartialFc, WhatIsDrawnGoesByTheStepsThatAreKept) {
  HeadShape shape{2, 60, 9};
  shape.split_classes = true;
  shape.sample_rate = 0.3;
  const auto a = make_head("adaface", {}, shape), b = make_head("adaface", {}, shape);
  const at::Tensor labels = at::tensor({7}, at::kLong), x = at::ones({1, 2});
  for (int i = 0; i < 3; ++i) a->loss(x, labels);
  const at::Tensor third = a->sampled_classes();
  b->loss(x, labels);
  EXPECT_FALSE(b->sampled_classes().equal(third));
  b->set_buffer("sampled_steps", at::full({}, 2, at::kLong));
  b->loss(x, labels);
  EXPECT_TRUE(b->sampled_classes().equal(third));
}

}  // namespace
}  // namespace facebench
