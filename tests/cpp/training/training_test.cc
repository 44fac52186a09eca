#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>
#include <set>

#include "facebench/core/error.h"
#include "facebench/core/random.h"
#include "facebench/io/file.h"
#include "facebench/nn/losses.h"
#include "facebench/training/batch_loader.h"
#include "facebench/training/checkpoint.h"
#include "facebench/training/optimizer.h"
#include "facebench/training/recipe.h"
#include "facebench/training/sampler.h"
#include "facebench/training/schedule.h"
#include "facebench/training/trainer.h"
#include "io/helpers.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// --- schedule
// --------------------------------------------------------------------------------------

double lr_at(const ScheduleOptions& options, std::int64_t iteration, std::int64_t total = 100,
             double per_epoch = 10) {
  return learning_rate(0.2, options, {iteration, total, per_epoch});
}

TEST(Schedule, ClosedForms) {
  ScheduleOptions o;
  for (const std::int64_t i : {0, 1, 9, 10, 37, 50, 99}) {
    const double t = static_cast<double>(i) / 100, epoch = static_cast<double>(i) / 10;
    o = {};
    o.policy = "constant";
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.2);
    o.policy = "step";
    o.step = 3;
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.2 * std::pow(0.1, static_cast<double>(i / 30)));
    o.policy = "multistep";
    o.milestones = {1, 5};
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.2 * (i < 10 ? 1 : i < 50 ? 0.1 : 0.1 * 0.1));
    o.policy = "polynomial";
    o.power = 2;
    o.final_lr = 0.02;
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.02 + 0.18 * (1 - t) * (1 - t));
    o.policy = "exponential";
    o.gamma = 0.5;
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.2 * std::exp2(-epoch));
    o.policy = "inverse";
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.2 / std::pow(1 + 0.5 * epoch, 2));
    o.policy = "cosine";
    EXPECT_NEAR(lr_at(o, i), 0.02 + 0.09 * (1 + std::cos(std::numbers::pi * t)), 1e-15);
  }
}

TEST(Schedule, WarmUpAndUnits) {
  ScheduleOptions o;
  o.policy = "step";
  o.step = 20;
  o.unit = "iterations";
  o.warmup = 10;
  o.warmup_start = 0.5;
  EXPECT_DOUBLE_EQ(lr_at(o, 0), 0.1);
  EXPECT_DOUBLE_EQ(lr_at(o, 5), 0.15);
  EXPECT_DOUBLE_EQ(lr_at(o, 10), 0.2);
  EXPECT_DOUBLE_EQ(lr_at(o, 20), 0.02);
}

// --- sampler
// ---------------------------------------------------------------------------------------

std::vector<std::int64_t> numbers(std::int64_t n) {
  std::vector<std::int64_t> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(100 + i);
  return v;
}

std::vector<Sampler::Slot> all_slots(const Sampler& sampler, std::int64_t iterations) {
  std::vector<Sampler::Slot> slots;
  for (std::int64_t i = 0; i < iterations; ++i)
    for (const Sampler::Slot& slot : sampler.batch(i)) slots.push_back(slot);
  return slots;
}

TEST(Sampler, EachSampleOnceInEachEpoch) {
  for (const LastBatch last : {LastBatch::wrap, LastBatch::keep}) {
    const ShuffleSampler sampler(numbers(23), 5, 4, last);
    std::map<std::int64_t, std::multiset<std::int64_t>> seen;
    for (const Sampler::Slot& slot : all_slots(sampler, sampler.iterations(3)))
      seen[slot.epoch].insert(slot.sample);
    const std::vector<std::int64_t> samples = numbers(23);
    for (std::int64_t epoch = 0; epoch < 3; ++epoch)
      EXPECT_EQ(seen[epoch], std::multiset<std::int64_t>(samples.begin(), samples.end()));
  }
}

TEST(Sampler, LastBatches) {
  const ShuffleSampler wrap(numbers(10), 1, 4, LastBatch::wrap),
      keep(numbers(10), 1, 4, LastBatch::keep), drop(numbers(10), 1, 4, LastBatch::drop);
  EXPECT_EQ(wrap.batch(2).size(), 4u);
  EXPECT_EQ(wrap.batch(2)[1].epoch, 0);
  EXPECT_EQ(wrap.batch(2)[2].epoch, 1);
  EXPECT_EQ(keep.batch(2).size(), 2u);
  EXPECT_EQ(keep.batch(3)[0].epoch, 1);
  EXPECT_EQ(drop.batch(2)[0].epoch, 1);
  EXPECT_EQ(wrap.iterations(2), 5);
  EXPECT_EQ(keep.iterations(2), 6);
  EXPECT_EQ(drop.iterations(2), 4);
  EXPECT_DOUBLE_EQ(wrap.iterations_per_epoch(), 2.5);
  EXPECT_THROW(ShuffleSampler(numbers(3), 1, 4, LastBatch::drop), std::invalid_argument);
  // A batch larger than the data goes round more than once.
  EXPECT_EQ(ShuffleSampler(numbers(3), 1, 8, LastBatch::wrap).batch(0)[7].epoch, 2);
}

TEST(Sampler, KnownFromTheNumberAloneAndShuffledAnew) {
  const ShuffleSampler a(numbers(50), 9, 8, LastBatch::keep), b(numbers(50), 9, 8, LastBatch::keep);
  b.batch(30);
  EXPECT_EQ(a.batch(12), b.batch(12));
  EXPECT_NE(a.batch(0), ShuffleSampler(numbers(50), 10, 8, LastBatch::keep).batch(0));
  std::vector<std::int64_t> first, second;
  for (const auto& slot : a.batch(0)) first.push_back(slot.sample);
  for (const auto& slot : a.batch(7)) second.push_back(slot.sample);
  EXPECT_NE(first, second);
}

TEST(BalancedSampler, EachBatchHasAsManyImagesOfDifferentPeople) {
  // People with 1, 2, ..., 7 images.
  std::vector<std::int64_t> samples, labels;
  for (std::int64_t person = 0; person < 7; ++person)
    for (std::int64_t k = 0; k <= person; ++k) {
      samples.push_back(static_cast<std::int64_t>(labels.size()));
      labels.push_back(person);
    }
  const BalancedSampler sampler(samples, labels, 3, /*batch=*/9, /*images_per_person=*/3);
  EXPECT_EQ(sampler.iterations_per_epoch(), 3);  // 28 images
  EXPECT_EQ(sampler.epoch(5), 1);
  std::map<std::int64_t, int> uses;
  std::set<std::vector<std::int64_t>> batches;
  for (std::int64_t i = 0; i < 140; ++i) {
    std::map<std::int64_t, std::set<std::pair<std::int64_t, std::int64_t>>> of_person;
    std::vector<std::int64_t> images;
    const std::vector<Sampler::Slot> slots = sampler.batch(i);
    ASSERT_EQ(slots.size(), 9u);
    for (const Sampler::Slot& slot : slots) {
      of_person[labels[static_cast<std::size_t>(slot.sample)]].insert({slot.sample, slot.epoch});
      ++uses[slot.sample];
      images.push_back(slot.sample);
    }
    EXPECT_EQ(of_person.size(), 3u);
    for (const auto& [person, own] : of_person) EXPECT_EQ(own.size(), 3u);
    batches.insert(images);
  }
  EXPECT_GT(batches.size(), 100u);
  // 140 batches of 3 people: each of the 7 about 60 times, 180 images of each person.
  for (const auto& [sample, count] : uses) {
    const double expected =
        180.0 / static_cast<double>(labels[static_cast<std::size_t>(sample)] + 1);
    EXPECT_NEAR(count, expected, 0.35 * expected) << sample;
  }
  const BalancedSampler again(samples, labels, 3, 9, 3);
  EXPECT_EQ(again.batch(77), sampler.batch(77));
  EXPECT_EQ(again.batch(3), sampler.batch(3));
  EXPECT_NE(BalancedSampler(samples, labels, 4, 9, 3).batch(3), sampler.batch(3));
  EXPECT_THROW(BalancedSampler(samples, labels, 3, 10, 3), std::invalid_argument);
  EXPECT_THROW(BalancedSampler(samples, labels, 3, 24, 3), std::invalid_argument);
}

// --- optimizer
// -------------------------------------------------------------------------------------

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

// --- data path
// -------------------------------------------------------------------------------------

// Small pictures in memory: each person a colour, with noise.
class Pictures : public ImageSource {
 public:
  Pictures(std::int64_t n, int persons, ImageShape shape) : n_(n), shape_(shape) {
    Random random(1, "pictures");
    for (std::int64_t i = 0; i < n; ++i) {
      labels.push_back(10 * (i % persons));
      for (std::int64_t p = 0; p < shape.bytes(); ++p)
        bytes_.push_back(
            static_cast<std::uint8_t>((i % persons * 40 + p % 3 * 30 * (i % persons % 2) +
                                       static_cast<int>(random.below(60))) %
                                      256));
    }
  }
  std::int64_t size() const override { return n_; }
  ImageShape shape() const override { return shape_; }
  SampleStatus status(std::int64_t i) const override {
    return i == failed ? SampleStatus::no_face : SampleStatus::ok;
  }
  std::string name(std::int64_t i) const override { return "p" + std::to_string(i); }
  const std::uint8_t* pixels(std::int64_t i) const override {
    return bytes_.data() + i * shape_.bytes();
  }
  std::vector<std::int64_t> labels;
  std::int64_t failed = -1;

 private:
  std::int64_t n_;
  ImageShape shape_;
  std::vector<std::uint8_t> bytes_;
};

TEST(Augmentation, FlipsShiftsAndScalesByHand) {
  // One row of four pixels, red 0 10 20 30, green and blue zero.
  const std::vector<std::uint8_t> pixels{0, 0, 0, 10, 0, 0, 20, 0, 0, 30, 0, 0};
  const PixelInput scale("rgb", {10, 0, 0}, {2, 1, 1});
  const InputView whole("whole", 1, "bilinear", {1, 4}, {1, 4});
  float out[12];
  auto red = [&](PixelInput::Placement placement, bool interleaved) {
    const Variation v{whole.view(), placement, {}};
    write_variation(pixels.data(), whole, v, scale, interleaved, out);
    std::vector<float> r;
    for (int i = 0; i < 4; ++i) r.push_back(out[interleaved ? 3 * i : i]);
    return r;
  };
  for (const bool interleaved : {false, true}) {
    EXPECT_EQ(red({}, interleaved), (std::vector<float>{-5, 0, 5, 10}));
    EXPECT_EQ(red({true, 0, 0}, interleaved), (std::vector<float>{10, 5, 0, -5}));
    EXPECT_EQ(red({false, 1, 0}, interleaved), (std::vector<float>{-5, -5, 0, 5}));
    EXPECT_EQ(red({true, -2, 3}, interleaved), (std::vector<float>{0, -5, -5, -5}));
  }
}

TEST(Augmentation, ColourOrders) {
  const std::vector<std::uint8_t> pixel{10, 20, 40};
  const ImageShape one{1, 1};
  float out[3];
  PixelInput("bgr", {0, 1, 2}, {1}).write(pixel.data(), one, {}, true, out);
  EXPECT_EQ((std::vector<float>{out[0], out[1], out[2]}), (std::vector<float>{40, 19, 8}));
  const PixelInput gray("gray", {0}, {1});
  EXPECT_EQ(gray.channels(), 1);
  gray.write(pixel.data(), one, {}, true, out);
  EXPECT_EQ(out[0], 19);  // .299 * 10 + .587 * 20 + .114 * 40 = 19.29, rounded
  EXPECT_THROW(PixelInput("gray", {1, 2, 3}, {1}), std::invalid_argument);
  EXPECT_THROW(PixelInput("brg", {0}, {1}), std::invalid_argument);
}

TEST(Augmentation, EveryViewIsKeyedInsideAndOfAnAllowedShape) {
  for (const TrainingViewEntry& entry : training_views().entries()) {
    AugmentationOptions options;
    options.view = entry.name;
    options.side = {40, 60};
    const InputView input("center_crop", 1, "bilinear", {40, 50}, {32, 24});
    std::set<std::pair<int, int>> corners;
    for (int sample = 0; sample < 300; ++sample) {
      const View v = draw_variation(options, input, 3, 1, sample).view;
      EXPECT_EQ(v, draw_variation(options, input, 3, 1, sample).view);
      const int width = v.width > 0 ? v.width : 50, height = v.height > 0 ? v.height : 40;
      EXPECT_TRUE(v.x0 >= 0 && v.y0 >= 0 && v.x1 <= width && v.y1 <= height) << entry.name;
      corners.insert({v.x0, v.y0});
      const double w = v.x1 - v.x0, h = v.y1 - v.y0, share = w * h / 2000;
      if (entry.name == "random_crop" || entry.name == "random_side_crop" ||
          entry.name == "input") {
        EXPECT_TRUE(w == 24 && h == 32) << entry.name;
      }
      if (entry.name == "random_side_crop") {
        EXPECT_TRUE(v.height >= 40 && v.height <= 60) << v.height;
        EXPECT_EQ(v.width, std::nearbyint(v.height * 1.25));
      }
      if (entry.name == "random_resized_crop") {
        EXPECT_TRUE(share > 0.07 && share <= 1) << share;
      }
      if (entry.name == "distorted_box") {
        EXPECT_TRUE(share >= 0.1 && share <= 1) << share;
      }
      if (entry.name == "distorted_box" || entry.name == "random_resized_crop") {
        EXPECT_TRUE((w + 0.6) / h > 0.74 && (w - 0.6) / h < 1.34) << w << " " << h;
      }
    }
    if (entry.name == "input")
      EXPECT_EQ(corners, (std::set<std::pair<int, int>>{{13, 4}}));
    else
      EXPECT_GT(corners.size(), 60u) << entry.name;
  }
}

TEST(Augmentation, ViewsThatDoNotFitAreRefused) {
  EXPECT_THROW(InputView("whole", 1, "bilinear", {40, 50}, {32, 24}), std::invalid_argument);
  EXPECT_THROW(InputView("center_crop", 1, "bilinear", {40, 50}, {41, 24}), std::invalid_argument);
  AugmentationOptions options;
  options.view = "random_side_crop";
  options.side = {20, 20};
  const InputView input("center_crop", 1, "bilinear", {40, 50}, {32, 24});
  EXPECT_THROW(draw_variation(options, input, 1, 0, 0), std::invalid_argument);
  EXPECT_NO_THROW(check_augmentation(options));
  options.side = {30, 20};
  EXPECT_THROW(check_augmentation(options), std::invalid_argument);
  options = {};
  options.area = {0.5};
  EXPECT_THROW(check_augmentation(options), std::invalid_argument);
  options = {};
  options.aspect = {0, 1};
  EXPECT_THROW(check_augmentation(options), std::invalid_argument);
}

// Values worked out with a calculator.
TEST(Augmentation, ColoursByHand) {
  const auto after = [](ColorStep step, std::vector<float> rgb) {
    distort_colors(rgb, {step});
    return rgb;
  };
  const auto near = [](const std::vector<float>& a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3) << i;
  };
  near(after({ColorOp::brightness, 0.1}, {0, 100, 250}), {25.5F, 125.5F, 255});
  near(after({ColorOp::contrast, 0.5}, {0, 0, 0, 100, 50, 0}), {25, 12.5F, 0, 75, 37.5F, 0});
  // Hue 30 degrees, saturation 0.8, value 200: half and twice the saturation, a third of a turn.
  near(after({ColorOp::saturation, 0.5}, {200, 120, 40}), {200, 160, 120});
  near(after({ColorOp::saturation, 2}, {200, 120, 40}), {200, 100, 0});
  near(after({ColorOp::hue, 1.0 / 3}, {200, 120, 40}), {40, 200, 120});
  near(after({ColorOp::hue, -1.0 / 3}, {200, 120, 40}), {120, 40, 200});
  near(after({ColorOp::hue, 0.2}, {77, 77, 77}), {77, 77, 77});
}

TEST(Augmentation, DrawsAreKeyedAndInRange) {
  AugmentationOptions options;
  options.shift = 2;
  const InputView whole("whole", 1, "bilinear", {8, 8}, {8, 8});
  int flips = 0;
  std::set<int> shifts;
  for (int sample = 0; sample < 400; ++sample) {
    const Variation v = draw_variation(options, whole, 3, 1, sample);
    EXPECT_EQ(v, draw_variation(options, whole, 3, 1, sample));
    flips += v.placement.mirror;
    shifts.insert(v.placement.dx);
  }
  EXPECT_NEAR(flips, 200, 50);
  EXPECT_EQ(shifts, (std::set<int>{-2, -1, 0, 1, 2}));
  options.flip = 0;
  EXPECT_FALSE(draw_variation(options, whole, 3, 1, 0).placement.mirror);
}

TEST(BatchLoader, ThreadsNeverChangeABit) {
  const Pictures pictures(37, 5, {6, 5});
  const std::vector<std::int64_t> labels(37, 1);
  const ShuffleSampler sampler(numbers(37), 2, 8, LastBatch::wrap);
  std::vector<std::int64_t> samples(37);
  for (int i = 0; i < 37; ++i) samples[static_cast<std::size_t>(i)] = i;
  const ShuffleSampler real(samples, 2, 8, LastBatch::wrap);
  std::vector<at::Tensor> reference;
  for (const int threads : {0, 1, 3}) {
    BatchLoader::Settings settings{
        {.view = "random_resized_crop", .shift = 2, .color = "inception"},
        InputView("center_crop", 1, "bilinear", {6, 5}, {4, 4}),
        PixelInput("rgb", {127.5}, {128}),
        7};
    settings.threads = threads;
    BatchLoader loader(pictures, labels, real, settings, 3, 15);
    for (std::size_t i = 0; i < 12; ++i) {
      const Batch batch = loader.next();
      if (threads == 0) reference.push_back(batch.images);
      EXPECT_TRUE(batch.images.equal(reference[i])) << threads << " " << i;
    }
    EXPECT_THROW(loader.next(), std::out_of_range);
  }
}

// --- recipes
// ---------------------------------------------------------------------------------------

constexpr const char* tiny_recipe = R"(
version = 1
title = "for tests"
[network]
name = "small4"
embedding = 8
channel_multiplier = 0.125
[loss]
name = "center"
[training]
epochs = 3
batch = 8
last_batch = "wrap"
[schedule]
policy = "cosine"
[augmentation]
shift = 1
)";

TEST(Recipe, EveryCarriedOneIsSound) {
  EXPECT_FALSE(recipe_names().empty());
  for (const std::string& name : recipe_names()) {
    const Recipe recipe = find_recipe(name);
    EXPECT_EQ(recipe.id, name);
    EXPECT_FALSE(recipe.title.empty());
  }
  EXPECT_THROW(find_recipe("demmo"), std::invalid_argument);
}

std::string recipe_error(std::string from, const std::string& to) {
  std::string text = tiny_recipe;
  text.replace(text.find(from), from.size(), to);
  try {
    parse_recipe(text, "mine.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Recipe, MistakesNameTheLineAndWhatWasMeant) {
  EXPECT_NE(recipe_error("batch = 8", "bacth = 8").find("mine.toml:12"), std::string::npos);
  EXPECT_NE(recipe_error("batch = 8", "bacth = 8").find("batch"), std::string::npos);
  EXPECT_NE(recipe_error("\"center\"", "\"centre\"").find("center"), std::string::npos);
  EXPECT_NE(recipe_error("\"small4\"", "\"small5\"").find("small4"), std::string::npos);
  EXPECT_NE(recipe_error("batch = 8", "batch = 0").find("batch"), std::string::npos);
  EXPECT_NE(recipe_error("[schedule]", "[shedule]").find("schedule"), std::string::npos);
  EXPECT_NE(recipe_error("version = 1", "version = 2").find("version"), std::string::npos);
}

// A file in a folder of its own.
class RecipeFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    write_file(folder_ / name, "version = 1\n" + text);
    return (folder_ / name).string();
  }
  std::string error_of(const std::string& path) {
    try {
      load_recipe(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder_;
};

TEST_F(RecipeFiles, LaterOnesChangeWhatTheyName) {
  write(
      "a.toml",
      "citations = ['x']\n[network]\nname = 'small4'\nembedding = 8\n[loss]\nname = 'cosface'\ns = "
      "10.0\n[training]\nbatch = 4\nepochs = 3\n");
  write("b.toml", "notes = ['careful']\n[training]\nbatch = 6\n[loss]\nm = 0.1\n");
  const Recipe r = load_recipe(write("c.toml",
                                     "base = ['a.toml', 'b.toml']\ntitle = 'c'\ncitations = ['x', "
                                     "'y']\n[loss]\nname = 'cosface'\n"));
  EXPECT_EQ(r.id, "c");
  EXPECT_EQ(r.training.batch, 6);
  EXPECT_EQ(r.training.epochs, 3);
  EXPECT_EQ(r.network_options.embedding, 8);
  EXPECT_EQ(r.citations, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(r.notes, (std::vector<std::string>{"careful"}));
  EXPECT_EQ(r.loss_options, (Json{{"s", 10.0}, {"m", 0.1}}));
  // Another loss or network starts from its own defaults; a built-in recipe is a base too.
  const Recipe other = load_recipe(write(
      "d.toml", "base = ['c.toml']\n[loss]\nname = 'arcface'\n[network]\nname = 'sphereface4'\n"));
  EXPECT_EQ(other.loss_options, Json::object());
  EXPECT_FALSE(other.network_options.embedding);
  EXPECT_EQ(load_recipe(write("demo.toml", "base = ['demo']\n")).title, find_recipe("demo").title);
}

TEST_F(RecipeFiles, CirclesAndUnknownBasesAreRefused) {
  write("a.toml", "base = ['b.toml']\n");
  const std::string b = write("b.toml", "base = ['a.toml']\n");
  EXPECT_NE(error_of(b).find("circle"), std::string::npos) << error_of(b);
  EXPECT_NE(error_of(b).find("a.toml:2"), std::string::npos) << error_of(b);
  const std::string self = write("self.toml", "base = ['self.toml']\n");
  EXPECT_NE(error_of(self).find("circle"), std::string::npos);
  const std::string slip = write("slip.toml", "base = ['parts/pytorhc']\n");
  EXPECT_NE(error_of(slip).find("parts/pytorch"), std::string::npos) << error_of(slip);
  EXPECT_NE(error_of(write("none.toml", "base = ['absent.toml']\n")).find("absent.toml"),
            std::string::npos);
  EXPECT_NE(error_of(write("bare.toml", "title = 'x'\n")).find("network"), std::string::npos);
  // What a base has wrong is told of the base.
  write("bad.toml", "[training]\nbacth = 3\n");
  EXPECT_NE(error_of(write("on_bad.toml", "base = ['bad.toml']\n")).find("bad.toml:3"),
            std::string::npos);
}

TEST(Recipe, OverridesByFullAndBareKey) {
  Recipe recipe = parse_recipe(tiny_recipe, "tiny.toml");
  set_recipe(recipe, "lr", "0.05");
  set_recipe(recipe, "loss.weight", "0.01");
  set_recipe(recipe, "training.epochs", "2");
  EXPECT_EQ(recipe.optimizer.lr, 0.05);
  EXPECT_EQ(recipe.training.epochs, 2);
  EXPECT_EQ(recipe_to_json(recipe)["loss"]["weight"], 0.01);
  EXPECT_EQ(recipe_to_json(recipe)["loss"]["alpha"], 0.5);
  EXPECT_THROW(set_recipe(recipe, "flip", "0"), std::invalid_argument);  // augmentation and input
  EXPECT_THROW(set_recipe(recipe, "lrr", "1"), std::invalid_argument);
  EXPECT_THROW(set_recipe(recipe, "lr", "fast"), std::invalid_argument);
  set_recipe(recipe, "loss", "cosface");
  set_recipe(recipe, "s", "16");
  EXPECT_EQ(recipe_to_json(recipe)["loss"]["s"], 16.0);
  EXPECT_EQ(recipe_to_json(recipe)["loss"]["name"], "cosface");
  for (const std::string& key : recipe_keys(recipe)) EXPECT_NE(key.find('.'), std::string::npos);
}

// --- trainer and checkpoints
// -----------------------------------------------------------------------

class Training : public ::testing::Test {
 protected:
  void SetUp() override {
    set_.images = &pictures_;
    set_.labels = pictures_.labels;
    options_.threads = 1;
  }

  std::string model_bytes(const std::string& name) {
    return read_file(folder_ / name / "model.safetensors");
  }

  TemporaryFolder folder_;
  Pictures pictures_{30, 4, {16, 16}};
  TrainingSet set_;
  Recipe recipe_ = parse_recipe(tiny_recipe, "tiny.toml");
  TrainOptions options_;
};

// Stops at the n-th look.
Job stopping_job(int* looks, int at) {
  Job job;
  job.poll = [looks, at] {
    if (++*looks == at) throw Cancelled();
  };
  return job;
}

TEST_F(Training, LearnsAndDescribesItself) {
  recipe_.training.epochs = 12;
  std::vector<EpochReport> reports;
  TrainCallbacks callbacks;
  callbacks.on_epoch = [&](const EpochReport& report,
                           const TrainedModel& model) -> std::optional<double> {
    EXPECT_FALSE(model.ours()->weights.training());
    reports.push_back(report);
    return report.epoch == 5 ? 1.0 : 0.5;
  };
  set_.preparation = {{"detector", "mtcnn"}, {"crop", "arcface112"}};
  const TrainResult result = train(recipe_, set_, folder_ / "a", options_, {}, callbacks);
  ASSERT_EQ(reports.size(), 12u);
  EXPECT_EQ(reports.back().epoch, 12);
  EXPECT_EQ(result.classes, 4);
  EXPECT_GT(result.accuracy, 0.7);
  EXPECT_LT(result.loss, reports.front().loss);
  EXPECT_EQ(*result.best_score, 1.0);
  const Model model = load_model(result.model);
  EXPECT_EQ(model.options.crop, "arcface112");
  EXPECT_EQ(model.options.flip, "sum");
  EXPECT_EQ(model.network_options.height, 16);
  EXPECT_TRUE(fs::exists(folder_ / "a" / "best.safetensors"));
  EXPECT_TRUE(fs::exists(folder_ / "a" / "run.json"));
  EXPECT_EQ(list_checkpoints(folder_ / "a" / "checkpoints").size(), 2u);
  EXPECT_THROW(train(recipe_, set_, folder_ / "a", options_), Error);
}

TEST_F(Training, ResumesToTheBitWhereverItStoppedAndWithOtherDataThreads) {
  options_.checkpoint_every = 4;
  train(recipe_, set_, folder_ / "whole", options_);
  const std::string whole = model_bytes("whole");
  for (const int stop_at : {1, 2, 5, 9, 13}) {
    const std::string name = "stop" + std::to_string(stop_at);
    int looks = 0;
    EXPECT_THROW(train(recipe_, set_, folder_ / name, options_, stopping_job(&looks, stop_at)),
                 Cancelled);
    EXPECT_FALSE(fs::exists(folder_ / name / "model.safetensors"));
    TrainOptions again = options_;
    again.resume = true;
    again.threads = 0;  // taken from the checkpoint
    again.data_threads = stop_at % 3;
    // A second stop on the way.
    looks = 0;
    try {
      train(recipe_, set_, folder_ / name, again, stopping_job(&looks, 3));
    } catch (const Cancelled&) {
    }
    train(recipe_, set_, folder_ / name, again);
    EXPECT_EQ(model_bytes(name), whole) << stop_at;
    // The log has each step's line once.
    EXPECT_EQ(read_file(folder_ / name / "log.jsonl").find("\"iteration\":12"),
              read_file(folder_ / name / "log.jsonl").rfind("\"iteration\":12"));
  }
}

TEST_F(Training, EveryLossResumesToTheBit) {
  recipe_.training.epochs = 1;
  for (const std::string& loss : losses().names()) {
    recipe_.loss = loss;
    const std::string whole = loss + "_whole", parts = loss + "_parts";
    train(recipe_, set_, folder_ / whole, options_);
    int looks = 0;
    EXPECT_THROW(train(recipe_, set_, folder_ / parts, options_, stopping_job(&looks, 3)),
                 Cancelled);
    TrainOptions again = options_;
    again.resume = true;
    train(recipe_, set_, folder_ / parts, again);
    EXPECT_EQ(model_bytes(whole), model_bytes(parts)) << loss;
  }
}

TEST_F(Training, ForeignAndDamagedCheckpointsAreRefused) {
  train(recipe_, set_, folder_ / "a", options_);
  TrainOptions again = options_;
  again.resume = true;
  auto refusal = [&](const Recipe& recipe, const TrainingSet& set, const TrainOptions& options) {
    try {
      train(recipe, set, folder_ / "a", options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Recipe other = recipe_;
  other.optimizer.lr = 0.01;
  EXPECT_NE(refusal(other, set_, again).find("/recipe/optimizer/lr"), std::string::npos);
  TrainingSet relabelled = set_;
  relabelled.labels[0] = 30;
  EXPECT_NE(refusal(recipe_, relabelled, again).find("/data"), std::string::npos);
  TrainOptions threads = again;
  threads.threads = 2;
  EXPECT_NE(refusal(recipe_, set_, threads).find("/threads"), std::string::npos);

  const fs::path newest = list_checkpoints(folder_ / "a" / "checkpoints").back();
  const std::string good = read_file(newest);
  std::string bad = good;
  bad[bad.size() - 5] ^= 1;
  write_file(newest, bad);
  EXPECT_NE(refusal(recipe_, set_, again).find("damaged"), std::string::npos);
  write_file(newest, good.substr(0, good.size() / 2));
  EXPECT_NE(refusal(recipe_, set_, again), "");
  fs::copy_file(folder_ / "a" / "model.safetensors", newest, fs::copy_options::overwrite_existing);
  EXPECT_NE(refusal(recipe_, set_, again).find("not a checkpoint"), std::string::npos);
  write_file(newest, good);
  EXPECT_EQ(refusal(recipe_, set_, again), "");
}

TEST_F(Training, PhasesComeInTheirOrderOnceForEachMicroBatch) {
  recipe_.training.iterations = 2;
  recipe_.training.accumulate = 2;
  std::string seen;
  TrainCallbacks callbacks;
  callbacks.on_phase = [&](StepPhase phase) {
    seen += "dfbaux"[static_cast<std::size_t>(phase)];  // data, forward, backward, aggregate, ...
  };
  train(recipe_, set_, folder_ / "a", options_, {}, callbacks);
  EXPECT_EQ(seen,
            "dfbfbux"
            "dfbfbux");  // nothing to aggregate in one process
}

TEST_F(Training, EveryOptionOfAStepResumesToTheBit) {
  recipe_.training.epochs = 3;
  for (const char* change : {"sampler=balanced", "ema=0.9", "dtype=bfloat16", "accumulate=2"}) {
    Recipe recipe = recipe_;
    const std::string text = change;
    set_recipe(recipe, text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
    const std::string whole = text + "_whole", parts = text + "_parts";
    train(recipe, set_, folder_ / whole, options_);
    int looks = 0;
    EXPECT_THROW(train(recipe, set_, folder_ / parts, options_, stopping_job(&looks, 6)),
                 Cancelled);
    TrainOptions again = options_;
    again.resume = true;
    train(recipe, set_, folder_ / parts, again);
    EXPECT_EQ(model_bytes(whole), model_bytes(parts)) << change;
  }
}

TEST_F(Training, WhatAKillLeavesBehindGoes) {
  fs::create_directories(folder_ / "a" / "checkpoints");
  std::ofstream(folder_ / "a" / "checkpoints" / ".step-000000004.safetensors.tmp-1-0") << "half";
  std::ofstream(folder_ / "a" / ".model.safetensors.tmp-0123456789abcdef") << "half";
  options_.resume = true;
  train(recipe_, set_, folder_ / "a", options_);
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "a"))
    EXPECT_EQ(entry.path().filename().string().find(".tmp-"), std::string::npos) << entry.path();
}

TEST_F(Training, FailedImagesAndUnlabelledOnesAreLeftOut) {
  pictures_.failed = 3;
  set_.labels[5] = -1;
  const TrainingClasses classes = training_classes(set_);
  EXPECT_EQ(classes.samples.size(), 28u);
  EXPECT_EQ(classes.count, 4);
  EXPECT_EQ(classes.labels[3], -1);
  EXPECT_EQ(classes.labels[2], 2);  // persons 0, 10, 20, 30
  set_.labels.assign(30, 7);
  EXPECT_THROW(training_classes(set_), Error);
}

TEST_F(Training, ALossThatIsNotFiniteIsAnError) {
  recipe_.optimizer.lr = 1e3;
  recipe_.loss = "center";
  recipe_.loss_options = {{"weight", 1e6}};
  recipe_.optimizer.weight_decay = 1e3;
  EXPECT_THROW(train(recipe_, set_, folder_ / "a", options_), Error);
}

}  // namespace
}  // namespace facebench
