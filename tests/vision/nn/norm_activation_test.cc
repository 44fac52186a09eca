#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "facebench/core/isa.h"
#include "facebench/core/random.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/network.h"

// In NHWC a network in training runs batch norm, addition and activation as one operation of ours;
// in NCHW, and in float64, they are torch's, one after the other. The two must agree.
namespace facebench {
namespace {

struct NormCase {
  const char* name;
  std::function<Value(Graph&, Value)> build;  // from (32, 6, 5)
};
std::ostream& operator<<(std::ostream& out, const NormCase& c) { return out << c.name; }

Value conv(Graph& g, const std::string& name, Value x, std::int64_t out) {
  return g.conv(name, x, {.out = out, .kernel = 3, .padding = 1});
}

const std::vector<NormCase> cases{
    {"norm", [](Graph& g, Value x) { return g.batch_norm("n", x); }},
    {"norm_without_scale",
     [](Graph& g, Value x) { return g.batch_norm("n", x, {.momentum = 0.3, .scale = false}); }},
    {"norm_relu", [](Graph& g, Value x) { return g.relu(g.batch_norm("n", x, {.shift = false})); }},
    {"norm_prelu", [](Graph& g, Value x) { return g.prelu("p", g.batch_norm("n", x)); }},
    {"norm_shared_prelu",
     [](Graph& g, Value x) { return g.prelu("p", g.batch_norm("n", x), {.shared = true}); }},
    {"prelu", [](Graph& g, Value x) { return g.prelu("p", x); }},
    {"norm_add", [](Graph& g, Value x) { return g.add(x, g.batch_norm("n", x)); }},
    {"norm_add_relu",
     [](Graph& g, Value x) { return g.relu(g.add(g.batch_norm("n", conv(g, "c", x, 32)), x)); }},
    {"two_norms_add_relu",
     [](Graph& g, Value x) {
       return g.relu(g.add(g.batch_norm("n", conv(g, "c", x, 32)), g.batch_norm("m", x)));
     }},
    {"norm_add_prelu",
     [](Graph& g, Value x) { return g.prelu("p", g.add(g.batch_norm("n", x), x)); }},
    {"norm_relu_add", [](Graph& g, Value x) { return g.add(g.relu(g.batch_norm("n", x)), x); }},
    {"norm_read_twice",
     [](Graph& g, Value x) {
       const Value n = g.batch_norm("n", x);
       return g.add(g.relu(n), n);
     }},
    {"norm_tapped",
     [](Graph& g, Value x) {
       const Value n = g.batch_norm("n", x);
       g.tap("inside", n);
       return g.relu(n);
     }},
    {"norm_of_vectors",
     [](Graph& g, Value x) {
       return g.batch_norm("n", g.linear("l", g.flatten(x), {.out = 48}), {.scale = false});
     }},
    {"norm_of_odd_channels",
     [](Graph& g, Value x) { return g.relu(g.batch_norm("n", conv(g, "c", x, 20))); }},
    {"mfm", [](Graph& g, Value x) { return g.mfm(x); }},
    {"wide", [](Graph& g, Value x) { return g.relu(g.batch_norm("n", conv(g, "c", x, 1072))); }},
};

Network make(const NormCase& c) {
  Graph g;
  g.tap("embedding", c.build(g, conv(g, "first", g.input(3, 6, 5), 32)));
  Network n(std::move(g), "torch", 3);
  // Not the ones and zeros that batch norm begins with.
  Random random(8, "vectors");
  const at::AutoGradMode no_gradients(false);
  for (const NamedTensor& t : n.parameters())
    for (std::int64_t i = 0; t.tensor.dim() == 1 && i < t.tensor.numel(); ++i)
      t.tensor.data_ptr<float>()[i] += static_cast<float>(random.uniform(-0.4, 0.4));
  return n;
}

struct Result {
  at::Tensor value, images;
  std::vector<NamedTensor> tensors;  // gradients of parameters, and buffers
};

Result train_once(const NormCase& c, at::ScalarType type, bool channels_last) {
  Network n = make(c);
  n.to(at::kCPU, type);
  n.channels_last(channels_last);
  Random random(9, "images");
  at::Tensor images = at::empty({7, 3, 6, 5}, at::TensorOptions(at::kFloat));
  for (std::int64_t i = 0; i < images.numel(); ++i)
    images.data_ptr<float>()[i] = static_cast<float>(random.normal() + 3);
  images = images.to(type).requires_grad_(true);
  const at::Tensor value = n.forward(images);
  // Weights of both signs, the same in every type and layout.
  const at::Tensor weights = at::arange(value.numel(), at::TensorOptions(at::kDouble))
                                 .reshape(value.sizes())
                                 .mul(0.7)
                                 .sin()
                                 .to(type);
  (value * weights).sum().backward();
  Result r{value.detach(), images.grad(), {}};
  for (const NamedTensor& t : n.parameters()) r.tensors.push_back({t.name, t.tensor.grad()});
  for (const NamedTensor& t : n.buffers()) r.tensors.push_back(t);
  return r;
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  const at::Tensor x = a.to(at::kDouble), y = b.to(at::kDouble);
  // A batch norm takes what is constant off its input, so gradients of earlier layers may be zero
  // but for rounding.
  const double scale = std::max(y.norm().item<double>(), 1.0);
  return (x - y).norm().item<double>() / scale;
}

// Visits (name, a's, b's) of everything in two results.
template <class Visit>
void for_each_pair(const Result& a, const Result& b, const Visit& visit) {
  visit(std::string("value"), a.value, b.value);
  visit(std::string("gradient of the images"), a.images, b.images);
  for (std::size_t i = 0; i < a.tensors.size(); ++i)
    visit(a.tensors[i].name, a.tensors[i].tensor, b.tensors[i].tensor);
}

void expect_same(const Result& a, const Result& b, double tolerance) {
  for_each_pair(a, b, [&](const std::string& what, const at::Tensor& x, const at::Tensor& y) {
    EXPECT_LT(distance(x, y), tolerance) << what;
  });
}

// bfloat16 has eight bits: how far a result may lie off is how far torch's own operations do.
void expect_as_near_as_torchs(const Result& ours, const Result& torchs, const Result& reference) {
  std::map<std::string, double> allowed;
  for_each_pair(torchs, reference,
                [&](const std::string& what, const at::Tensor& x, const at::Tensor& y) {
                  allowed[what] = 1.5 * distance(x, y) + 0.02;
                });
  for_each_pair(ours, reference,
                [&](const std::string& what, const at::Tensor& x, const at::Tensor& y) {
                  EXPECT_LT(distance(x, y), allowed[what]) << what;
                });
}

class NormActivations : public ::testing::TestWithParam<NormCase> {};

TEST_P(NormActivations, EqualTorchsOperationsInDouble) {
  const Result reference = train_once(GetParam(), at::kDouble, false);
  expect_same(train_once(GetParam(), at::kFloat, true), reference, 2e-5);
  expect_same(train_once(GetParam(), at::kFloat, false), reference, 2e-5);
}

TEST_P(NormActivations, Bfloat16IsAsNearAsTorchs) {
  const Result reference = train_once(GetParam(), at::kDouble, false);
  expect_as_near_as_torchs(train_once(GetParam(), at::kBFloat16, true),
                           train_once(GetParam(), at::kBFloat16, false), reference);
}

TEST_P(NormActivations, EveryInstructionSet) {
  const Result reference = train_once(GetParam(), at::kDouble, false);
  const Result torchs = train_once(GetParam(), at::kBFloat16, false);
  const Isa before = active_isa();
  for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512, Isa::avx512bf16}) {
    if (isa > supported_isa()) break;
    SCOPED_TRACE(isa_name(isa));
    force_isa(isa);
    expect_same(train_once(GetParam(), at::kFloat, true), reference, 2e-5);
    expect_as_near_as_torchs(train_once(GetParam(), at::kBFloat16, true), torchs, reference);
  }
  force_isa(before);
}

INSTANTIATE_TEST_SUITE_P(All, NormActivations, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(NormActivation, RepeatsForTheSameThreads) {
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  const NormCase& wide = cases.back();
  const Result a = train_once(wide, at::kFloat, true), b = train_once(wide, at::kFloat, true);
  at::set_num_threads(1);
  const Result one = train_once(wide, at::kFloat, true);
  at::set_num_threads(before);
  EXPECT_TRUE(a.value.equal(b.value) && a.images.equal(b.images));
  for (std::size_t i = 0; i < a.tensors.size(); ++i)
    EXPECT_TRUE(a.tensors[i].tensor.equal(b.tensors[i].tensor)) << a.tensors[i].name;
  expect_same(a, one, 1e-5);
}

TEST(NormActivation, SecondDerivativesAreRefused) {
  Network n = make(cases[2]);
  n.channels_last();
  const at::Tensor images = at::rand({2, 3, 6, 5}).requires_grad_(true);
  const at::Tensor sum = n.forward(images).square().sum();
  EXPECT_THROW(sum.backward({}, /*retain_graph=*/true, /*create_graph=*/true), std::logic_error);
}

}  // namespace
}  // namespace facebench
