#include "facebench/nn/losses.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/random.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/losses/arcface.h"
#include "facebench/nn/losses/sphereface.h"

namespace facebench {
namespace {

constexpr std::int64_t kFeatures = 5, kClasses = 7, kBatch = 6;

at::Tensor random_tensor(std::vector<std::int64_t> size, std::string_view purpose, double scale) {
  at::Tensor t = at::empty(size, at::TensorOptions(at::kDouble));
  Random random(11, purpose);
  for (std::int64_t i = 0; i < t.numel(); ++i) t.data_ptr<double>()[i] = scale * random.normal();
  return t;
}

at::Tensor some_labels() { return at::tensor({0, 3, 6, 3, 1, 5}, at::TensorOptions(at::kLong)); }

std::unique_ptr<Head> double_head(std::string_view name, Json options = Json::object()) {
  HeadShape shape{kFeatures, kClasses, 3, at::kDouble};
  auto head = make_head(name, options, shape);
  head->train(false);  // finite differences need the same function at every call
  return head;
}

// The largest relative difference between the gradient and central differences, over the features
// and every parameter.
double gradient_error(Head& head, at::Tensor features, const at::Tensor& labels) {
  features = features.clone().requires_grad_(true);
  std::vector<at::Tensor> inputs{features};
  for (const NamedTensor& p : head.parameters()) inputs.push_back(p.tensor);
  for (at::Tensor& t : inputs) t.mutable_grad() = at::Tensor();
  head.loss(features, labels).loss.backward();
  double worst = 0;
  for (at::Tensor& t : inputs) {
    const at::Tensor grad = t.grad().contiguous();
    double* data = t.data_ptr<double>();
    for (std::int64_t i = 0; i < t.numel(); ++i) {
      const double h = 1e-6, x = data[i];
      data[i] = x + h;
      const double up = head.loss(features, labels).loss.item<double>();
      data[i] = x - h;
      const double down = head.loss(features, labels).loss.item<double>();
      data[i] = x;
      const double numeric = (up - down) / (2 * h), exact = grad.data_ptr<double>()[i];
      worst = std::max(worst, std::abs(numeric - exact) / std::max(1.0, std::abs(exact)));
    }
  }
  return worst;
}

// Features at chosen angles from their class's weight, the plane chosen at random.
at::Tensor features_at_angles(const at::Tensor& weight, const at::Tensor& labels,
                              const std::vector<double>& angles, double norm) {
  at::NoGradGuard no_grad;
  const at::Tensor w = normalize_rows(weight).index_select(0, labels);
  at::Tensor other = random_tensor({labels.size(0), weight.size(1)}, "plane", 1);
  other = normalize_rows(other - (other * w).sum(1, true) * w);
  const at::Tensor angle = at::tensor(angles, at::TensorOptions(at::kDouble)).unsqueeze(1);
  return norm * (angle.cos() * w + angle.sin() * other);
}

struct LossCase {
  std::string name;
  Json options;
};

// Directions that angles are taken to: the classes' weights, any for a loss without them.
at::Tensor directions(const Head& head) {
  return head.parameters().empty() ? random_tensor({kClasses, kFeatures}, "directions", 1)
                                   : head.parameters()[0].tensor.detach();
}

// Every loss with its defaults, but a scale at which differences are exact enough and a lambda that
// leaves the margin to be seen; then its variants.
std::vector<LossCase> gradient_cases() {
  std::vector<LossCase> cases;
  for (const LossEntry& entry : losses().entries()) {
    Json options = Json::object();
    for (const OptionField& field : entry.options->fields) {
      if (field.name == "s") options["s"] = 8;
      if (field.name == "h") options["h"] = 0;  // quality is a constant to the gradient
      if (field.name.starts_with("lambda_")) options[field.name] = 0;
    }
    cases.push_back({entry.name, options});
  }
  cases.insert(cases.end(), {{"softmax", {{"bias", false}}},
                             {"center", {{"weight", 0.3}}},
                             {"center", {{"weight", 0.3}, {"update", "facenet"}}},
                             {"sphereface", {{"m", 3}, {"lambda_min", 2}, {"lambda_base", 0}}},
                             {"arcface", {{"s", 8}, {"past_pi", "wrap"}}},
                             {"arcface", {{"s", 8}, {"past_pi", "easy"}}},
                             {"combined", {{"s", 8}, {"m1", 1.35}}},
                             {"magface", {{"s", 8}, {"l_a", 1}, {"u_a", 5}}},
                             {"magface", {{"s", 8}, {"l_a", 1}, {"past_pi", "linear"}}},
                             {"elasticface", {{"s", 8}, {"on", "cosine"}, {"plus", true}}},
                             {"uniface", {{"s", 30}, {"l", 0.5}}},
                             {"triplet", {{"margin", 4}, {"negatives", "all"}}},
                             {"triplet", {{"margin", 4}, {"pick", "nearest"}}}});
  return cases;
}

std::ostream& operator<<(std::ostream& out, const LossCase& c) {
  return out << c.name << " " << c.options.dump();
}

class Observed : public ::testing::TestWithParam<at::ScalarType> {};

// The cosine by its definition; the true class's logit and the highest other, of which with the
// logits the loss follows.
TEST_P(Observed, AreWhatTheLossIsMadeOf) {
  const at::Tensor x = random_tensor({kBatch, kFeatures}, "features", 1.5).to(GetParam());
  const at::Tensor labels = some_labels();
  const std::set<std::string> more{"center", "magface", "curricularface", "uniface"};  // terms
  for (const LossEntry& entry : losses().entries()) {
    SCOPED_TRACE(entry.name);
    Json options = Json::object();
    for (const OptionField& field : entry.options->fields)
      if (field.name == "s") options["s"] = 8;
    const auto head = make_head(entry.name, options, {kFeatures, kClasses, 3, GetParam()});
    head->train(false);
    const Head::Output plain = head->loss(x, labels);
    EXPECT_FALSE(plain.cosine.defined() || plain.target.defined() || plain.highest.defined());
    head->observe(true);
    const Head::Output out = head->loss(x, labels);
    EXPECT_TRUE(at::equal(out.loss, plain.loss));
    EXPECT_EQ(out.cosine.defined(), entry.name != "triplet");
    if (!out.cosine.defined()) continue;
    const at::Tensor weight = head->parameters()[0].tensor.detach();
    const at::Tensor cosines =
        at::mm(x / x.norm(2, 1, true), (weight / weight.norm(2, 1, true)).t());
    const std::int64_t centers = weight.size(0) / kClasses;
    const at::Tensor nearest = std::get<0>(cosines.view({kBatch, kClasses, centers}).max(2));
    const at::Tensor index = labels.unsqueeze(1);
    EXPECT_TRUE(at::allclose(out.cosine, nearest.gather(1, index).squeeze(1), 1e-5, 1e-6));
    const at::Tensor others = out.logits.scatter(1, index, -1e30);
    EXPECT_TRUE(at::allclose(out.highest, others.amax(1)));
    EXPECT_TRUE(out.target.le(out.logits.gather(1, index).squeeze(1) + 1e-5).all().item<bool>());
    if (more.contains(entry.name)) continue;
    const at::Tensor all = at::cat({others, out.target.unsqueeze(1)}, 1);
    const at::Tensor loss = (all.logsumexp(1) - out.target).mean();
    EXPECT_NEAR(loss.item<double>(), out.loss.item<double>(), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Observed, ::testing::Values(at::kFloat, at::kDouble),
                         [](const auto& info) {
                           return info.param == at::kFloat ? "float32" : "float64";
                         });

class Gradients : public ::testing::TestWithParam<LossCase> {};

TEST_P(Gradients, EqualFiniteDifferences) {
  auto head = double_head(GetParam().name, GetParam().options);
  const at::Tensor features = random_tensor({kBatch, kFeatures}, "features", 1.5);
  EXPECT_LT(gradient_error(*head, features, some_labels()), 1e-6);
}

TEST_P(Gradients, EqualFiniteDifferencesNearBothPoles) {
  auto head = double_head(GetParam().name, GetParam().options);
  const double pi = std::numbers::pi;
  // cos = +-1 within 1e-4 or so, and theta + m > pi; no kink (multiples of pi/m, pi - m, pi/2).
  const at::Tensor features = features_at_angles(
      directions(*head), some_labels(), {0.02, 0.3, 1.1, pi - 0.3, pi - 0.1, pi - 0.02}, 1.3);
  EXPECT_LT(gradient_error(*head, features, some_labels()), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, Gradients, ::testing::ValuesIn(gradient_cases()));

TEST(Losses, GradientIsFiniteExactlyAtThePoles) {
  for (const LossEntry& entry : losses().entries()) {
    for (at::ScalarType type : {at::kFloat, at::kDouble}) {
      auto head = make_head(entry.name, {}, {kFeatures, kClasses, 3, type});
      const at::Tensor w = directions(*head).to(type).index_select(0, some_labels());
      at::Tensor features = at::cat({3 * w.slice(0, 0, 2), -w.slice(0, 2, 4), 0 * w.slice(0, 4)})
                                .requires_grad_(true);
      const Head::Output output = head->loss(features, some_labels());
      EXPECT_TRUE(std::isfinite(output.loss.item<double>())) << entry.name;
      output.loss.backward();
      EXPECT_TRUE(features.grad().isfinite().all().item<bool>()) << entry.name;
      for (const PartialTensor& p : head->parameters())
        EXPECT_TRUE(p.tensor.grad().isfinite().all().item<bool>()) << entry.name;
    }
  }
}

at::Tensor loss_of(std::string_view name, const Json& options, const at::Tensor& features) {
  return double_head(name, options)->loss(features, some_labels()).loss;
}

TEST(Losses, NeutralSettings) {
  const at::Tensor x = random_tensor({kBatch, kFeatures}, "neutral", 1.5);
  const at::Tensor labels = some_labels();
  auto near = [](const at::Tensor& a, const at::Tensor& b) {
    EXPECT_NEAR(a.item<double>(), b.item<double>(), 1e-12);
  };
  const at::Tensor w = double_head("cosface")->parameters()[0].tensor.detach();
  const at::Tensor unit_w = w / w.norm(2, {1}, true);
  const at::Tensor unit_x = x / x.norm(2, {1}, true);
  // CosFace and ArcFace without margin: normalised softmax.
  const at::Tensor normalised = at::cross_entropy_loss(16 * unit_x.mm(unit_w.t()), labels);
  near(loss_of("cosface", {{"s", 16}, {"m", 0}}, x), normalised);
  near(loss_of("arcface", {{"s", 16}, {"m", 0}}, x), normalised);
  near(loss_of("arcface", {{"s", 16}, {"m", 0}, {"past_pi", "wrap"}}, x), normalised);
  // SphereFace at m = 1: modified softmax, unit weights and the features' own norm, at any lambda.
  const at::Tensor modified = at::cross_entropy_loss(x.mm(unit_w.t()), labels);
  near(loss_of("sphereface", {{"m", 1}}, x), modified);
  near(loss_of("sphereface", {{"m", 1}, {"lambda_base", 0}, {"lambda_min", 0}}, x), modified);
  // Center at lambda 0: softmax.
  near(loss_of("center", {{"weight", 0}}, x), loss_of("softmax", {}, x));
}

TEST(Losses, PsiIsMonotoneAndContinuous) {
  for (int m : {1, 2, 3, 4, 5}) {
    const at::Tensor theta =
        at::linspace(0, std::numbers::pi, 2001, at::TensorOptions(at::kDouble));
    const at::Tensor psi = sphereface_psi(theta.cos(), m);
    const at::Tensor steps = psi.slice(0, 1) - psi.slice(0, 0, -1);
    EXPECT_LE(steps.max().item<double>(), 1e-12) << m;
    EXPECT_GT(steps.min().item<double>(), -0.01 * m) << m;
    EXPECT_NEAR(psi[0].item<double>(), 1, 1e-12);
    EXPECT_NEAR(psi[2000].item<double>(), 1 - 2 * m, 1e-9);
  }
}

TEST(Losses, SlopeOfPsiIsItsDerivative) {
  for (int m : {1, 2, 3, 4, 5}) {
    at::Tensor cosine = at::linspace(-0.999, 0.999, 401, at::TensorOptions(at::kDouble));
    cosine.requires_grad_(true);
    sphereface_psi(cosine, m).sum().backward();
    const at::Tensor slope = sphereface_psi_slope(cosine.detach(), m);
    EXPECT_LT((slope - cosine.grad()).abs().max().item<double>(), 1e-9) << m;
    EXPECT_GE(slope.min().item<double>(), -1e-9) << m;  // psi falls with the angle
  }
}

TEST(Losses, ArcFaceMarginByHand) {
  const at::Tensor cosine = at::tensor({0.8, -0.2, -0.95}, at::TensorOptions(at::kDouble));
  auto value = [&](const char* past_pi, int i) {
    ArcFaceOptions options;
    options.past_pi = past_pi;
    return arcface_margin(cosine, options)[i].item<double>();
  };
  EXPECT_NEAR(value("linear", 0), std::cos(std::acos(0.8) + 0.5), 1e-12);
  EXPECT_NEAR(value("linear", 1), std::cos(std::acos(-0.2) + 0.5), 1e-12);
  EXPECT_NEAR(value("linear", 2), -0.95 - 0.5 * std::sin(0.5), 1e-12);  // acos(-.95) + .5 > pi
  EXPECT_NEAR(value("wrap", 2), std::cos(std::acos(-0.95) + 0.5), 1e-12);
  EXPECT_NEAR(value("easy", 0), std::cos(std::acos(0.8) + 0.5), 1e-12);
  EXPECT_NEAR(value("easy", 1), -0.2, 1e-12);
}

TEST(Losses, ConstantMarginGradientIsOne) {
  ArcFaceOptions options;
  options.gradient = "constant";
  at::Tensor cosine = at::tensor({0.8, -0.2}, at::TensorOptions(at::kDouble)).requires_grad_(true);
  arcface_margin(cosine, options).sum().backward();
  EXPECT_TRUE(cosine.grad().eq(1).all().item<bool>());
}

TEST(Losses, AnnealingFollowsTheFormulaAndOnlyInTraining) {
  SphereFaceOptions options;
  EXPECT_DOUBLE_EQ(sphereface_lambda(options, 1), 1000 / 1.12);
  EXPECT_DOUBLE_EQ(sphereface_lambda(options, 100), 1000 / 13.0);
  EXPECT_DOUBLE_EQ(sphereface_lambda(options, 1'000'000), 5);
  auto head = make_head("sphereface", {}, {kFeatures, kClasses, 3, at::kDouble});
  const at::Tensor x = random_tensor({kBatch, kFeatures}, "anneal", 1);
  head->loss(x, some_labels());
  head->loss(x, some_labels());
  head->train(false);
  head->loss(x, some_labels());
  EXPECT_EQ(head->buffers()[0].tensor.item<std::int64_t>(), 2);
}

TEST(Losses, CentersMoveAsWritten) {
  auto head = make_head("center", {{"alpha", 0.5}}, {2, 3, 0, at::kDouble});
  const at::Tensor x =
      at::tensor({1.0, 2.0, 3.0, 4.0, 6.0, 8.0}, at::TensorOptions(at::kDouble)).view({3, 2});
  const at::Tensor labels = at::tensor({2, 0, 2}, at::TensorOptions(at::kLong));
  head->loss(x, labels);
  const at::Tensor c = head->buffers()[0].tensor;
  // Class 0: one image, 0.5 (3, 4) / 2. Class 2: two images, 0.5 (7, 10) / 3.
  EXPECT_NEAR(c[0][0].item<double>(), 0.75, 1e-12);
  EXPECT_NEAR(c[0][1].item<double>(), 1.0, 1e-12);
  EXPECT_EQ(c[1].abs().sum().item<double>(), 0);
  EXPECT_NEAR(c[2][0].item<double>(), 3.5 / 3, 1e-12);
  EXPECT_NEAR(c[2][1].item<double>(), 5.0 / 3, 1e-12);
}

TEST(Losses, LogitsCarryNoMarginAndNoGradient) {
  const at::Tensor x = random_tensor({kBatch, kFeatures}, "logits", 1);
  auto head = double_head("cosface", {{"s", 10}});
  const at::Tensor logits = head->loss(x, some_labels()).logits;
  const at::Tensor w = head->parameters()[0].tensor.detach();
  const at::Tensor expected = 10 * (x / x.norm(2, {1}, true)).mm((w / w.norm(2, {1}, true)).t());
  EXPECT_LT((logits - expected).abs().max().item<double>(), 1e-12);
  EXPECT_FALSE(logits.requires_grad());
}

TEST(Losses, AHeadIsGivenNorms) {
  const at::Tensor x =
      at::tensor({3.0, 4.0, 0.0, 1.0, 0.0, 0.0}, at::TensorOptions(at::kDouble)).view({3, 2});
  const at::Tensor labels = at::tensor({2, 0, 2}, at::TensorOptions(at::kLong));
  HeadInput input(x, labels);
  EXPECT_DOUBLE_EQ(input.norms()[0][0].item<double>(), 5);
  EXPECT_DOUBLE_EQ(input.norms()[2][0].item<double>(), 1e-6);
  EXPECT_EQ(HeadInput(x.to(at::kBFloat16), labels).features().scalar_type(), at::kFloat);
  EXPECT_EQ(HeadInput(x.to(at::kBFloat16), labels).given().scalar_type(), at::kBFloat16);
}

// What is drawn for an image depends on its place in the step's batch, not on who computes it.
TEST(Losses, DrawnMarginsDoNotDependOnHowABatchIsShared) {
  const at::Tensor x = random_tensor({kBatch, kFeatures}, "shared", 1.5);
  const at::Tensor labels = some_labels();
  auto loss = [&](std::int64_t first, std::int64_t stride) {
    auto head = double_head("elasticface");
    const at::Tensor rows = at::arange(first, kBatch, stride, at::TensorOptions(at::kLong));
    return head->loss(x.index_select(0, rows), labels.index_select(0, rows), {first, stride})
               .loss.item<double>() *
           static_cast<double>(rows.size(0)) / kBatch;
  };
  EXPECT_NEAR(loss(0, 2) + loss(1, 2), loss(0, 1), 1e-12);
  EXPECT_NEAR(loss(0, 3) + loss(1, 3) + loss(2, 3), loss(0, 1), 1e-12);
}

TEST(Losses, ElasticPlusGivesFarImagesTheLargeMargins) {
  const Json options{{"on", "cosine"}, {"s", 4}, {"std", 0.2}};
  Json with_plus = options;
  with_plus["plus"] = true;
  auto plain = double_head("elasticface", options), plus = double_head("elasticface", with_plus);
  const at::Tensor x = random_tensor({kBatch, kFeatures}, "plus", 1.5), labels = some_labels();
  const at::Tensor w = plain->parameters()[0].tensor.detach();
  const at::Tensor cosine = normalize_rows(x).mm(normalize_rows(w).t());
  // The margin of each image, from its loss alone: log(1 + exp(others - 4 (cosine - margin))).
  std::vector<std::pair<double, std::int64_t>> by_cosine;
  std::vector<double> margins;
  for (std::int64_t i = 0; i < kBatch; ++i) {
    const double loss =
        plain->loss(x.slice(0, i, i + 1), labels.slice(0, i, i + 1), {i, 1}).loss.item<double>();
    const auto label = labels[i].item<std::int64_t>();
    const double own = cosine[i][label].item<double>();
    const at::Tensor all = (4 * cosine[i]).exp();
    const double others = std::log((all.sum() - all[label]).item<double>());
    margins.push_back(own - (others - std::log(std::expm1(loss))) / 4);
    by_cosine.push_back({-own, i});
  }
  EXPECT_FALSE(std::is_sorted(margins.begin(), margins.end()));
  std::sort(margins.begin(), margins.end());
  std::sort(by_cosine.begin(), by_cosine.end());
  at::Tensor logits = 4 * cosine;
  for (std::size_t k = 0; k < margins.size(); ++k) {
    const std::int64_t i = by_cosine[k].second;
    logits[i][labels[i].item<std::int64_t>()] -= 4 * margins[k];
  }
  EXPECT_NEAR(plus->loss(x, labels).loss.item<double>(),
              at::cross_entropy_loss(logits, labels).item<double>(), 1e-9);
}

TEST(Losses, WrongUseIsRefused) {
  const HeadShape shape{4, 4}, no_classes{4, 0};
  const Json unknown{{"margin", 1}}, negative{{"m", -1}};
  EXPECT_THROW(make_head("cosfase", Json(), shape), std::invalid_argument);
  EXPECT_THROW(make_head("cosface", unknown, shape), Error);
  EXPECT_THROW(make_head("cosface", negative, shape), Error);
  EXPECT_THROW(make_head("cosface", Json(), no_classes), std::invalid_argument);
  auto head = double_head("softmax");
  const at::Tensor x = random_tensor({kBatch, kFeatures}, "wrong", 1);
  EXPECT_THROW(head->loss(x.slice(1, 0, 2), some_labels()), std::invalid_argument);
  EXPECT_THROW(head->loss(x, some_labels().slice(0, 1)), std::invalid_argument);
  EXPECT_THROW(head->loss(x, some_labels() + 4), std::out_of_range);
}

TEST(Losses, InitialWeightsDependOnTheSeed) {
  auto weight = [](std::uint64_t seed) {
    return make_head("cosface", {}, {kFeatures, kClasses, seed})->parameters()[0].tensor;
  };
  EXPECT_TRUE(weight(1).equal(weight(1)));
  EXPECT_FALSE(weight(1).equal(weight(2)));
}

}  // namespace
}  // namespace facebench
