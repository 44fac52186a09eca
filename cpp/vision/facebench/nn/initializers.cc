#include "facebench/nn/initializers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/core/random.h"

namespace facebench {
namespace {

using Values = std::span<float>;

Random tensor_stream(const TensorSpec& spec, std::uint64_t seed) {
  return Random(seed, "initialize/" + spec.name);
}

void fill_uniform(const TensorSpec& spec, std::uint64_t seed, double bound, Values values) {
  Random random = tensor_stream(spec, seed);
  for (float& v : values) v = static_cast<float>(random.uniform(-bound, bound));
}

void fill_normal(const TensorSpec& spec, std::uint64_t seed, double deviation, Values values) {
  Random random = tensor_stream(spec, seed);
  for (float& v : values) v = static_cast<float>(deviation * random.normal());
}

// Biases are zero in all but torch's own default.
bool fill_zero_bias(const TensorSpec& spec, Values values) {
  if (spec.role != TensorRole::bias) return false;
  std::fill(values.begin(), values.end(), 0.0F);
  return true;
}

// Normal numbers further than two deviations from zero are drawn again.
void fill_truncated(const TensorSpec& spec, std::uint64_t seed, double deviation, Values values) {
  Random random = tensor_stream(spec, seed);
  for (float& v : values) {
    double z = random.normal();
    while (std::abs(z) > 2) z = random.normal();
    v = static_cast<float>(deviation * z);
  }
}

double fan_in(const TensorSpec& spec) { return static_cast<double>(spec.fan_in); }
double fan_out(const TensorSpec& spec) { return static_cast<double>(spec.fan_out); }

void fill_torch(const TensorSpec& spec, std::uint64_t seed, Values values) {
  // torch.nn.LSTM goes by its cells everywhere.
  const double inputs = spec.op == Op::lstm ? static_cast<double>(spec.shape[0]) / 4 : fan_in(spec);
  fill_uniform(spec, seed, 1 / std::sqrt(inputs), values);
}

// --- weights alone; biases are set to zero around them

void weights_fan_out(const TensorSpec& spec, std::uint64_t seed, Values values) {
  fill_normal(spec, seed, std::sqrt(2 / fan_out(spec)), values);
}

void weights_fan_in(const TensorSpec& spec, std::uint64_t seed, Values values) {
  fill_normal(spec, seed, std::sqrt(2 / fan_in(spec)), values);
}

void weights_xavier(const TensorSpec& spec, std::uint64_t seed, Values values) {
  fill_uniform(spec, seed, std::sqrt(6 / (fan_in(spec) + fan_out(spec))), values);
}

void weights_xavier_normal(const TensorSpec& spec, std::uint64_t seed, Values values) {
  fill_normal(spec, seed, std::sqrt(2 / (fan_in(spec) + fan_out(spec))), values);
}

void weights_xavier_caffe(const TensorSpec& spec, std::uint64_t seed, Values values) {
  fill_uniform(spec, seed, std::sqrt(3 / fan_in(spec)), values);
}

void weights_gaussian(const TensorSpec& spec, std::uint64_t seed, Values values) {
  fill_normal(spec, seed, 0.01, values);
}

void weights_truncated(const TensorSpec& spec, std::uint64_t seed, Values values) {
  fill_truncated(spec, seed, 0.1, values);
}

void weights_resnet_caffe(const TensorSpec& spec, std::uint64_t seed, Values values) {
  (spec.op == Op::linear ? weights_gaussian
   : spec.of_images      ? weights_fan_out
                         : weights_fan_in)(spec, seed, values);
}

void weights_residual_caffe(const TensorSpec& spec, std::uint64_t seed, Values values) {
  (spec.keeps_width ? weights_gaussian : weights_xavier_caffe)(spec, seed, values);
}

// Slim's alexnet_v2 makes its fully connected layers of 5x5 and 1x1 convolutions; the table's rule
// for them holds for ours, which are linear.
void fill_alexnet_slim(const TensorSpec& spec, std::uint64_t seed, Values values) {
  if (spec.role == TensorRole::bias)
    std::fill(values.begin(), values.end(), 0.1F);
  else if (spec.op == Op::linear)
    fill_truncated(spec, seed, 0.005, values);
  else
    weights_xavier(spec, seed, values);
}

// The tutorial's first convolution alone starts with biases of 0.
void fill_cifar10_tensorflow(const TensorSpec& spec, std::uint64_t seed, Values values) {
  if (spec.role == TensorRole::bias)
    std::fill(values.begin(), values.end(), spec.of_images ? 0.0F : 0.1F);
  else
    fill_truncated(spec, seed, spec.op == Op::linear ? 0.04 : 0.05, values);
}

// Caffe's "quick" example on CIFAR-10.
void weights_cifar10_caffe(const TensorSpec& spec, std::uint64_t seed, Values values) {
  const double deviation = spec.op == Op::linear ? 0.1 : spec.of_images ? 1e-4 : 0.01;
  fill_normal(spec, seed, deviation, values);
}

void weights_gaussian_tenth(const TensorSpec& spec, std::uint64_t seed, Values values) {
  fill_normal(spec, seed, 0.1, values);
}

// timm's truncated normal cuts off at 2, a hundred deviations: a normal.
constexpr double kTransformerDeviation = 0.02;

void fill_transformer(const TensorSpec& spec, std::uint64_t seed, Values values) {
  if (spec.op != Op::linear) return fill_torch(spec, seed, values);
  if (!fill_zero_bias(spec, values)) fill_normal(spec, seed, kTransformerDeviation, values);
}

using Fill = void (*)(const TensorSpec&, std::uint64_t, Values);

// All weights by one rule, biases 0.
template <Fill weights>
void fill_all(const TensorSpec& spec, std::uint64_t seed, Values values) {
  if (fill_zero_bias(spec, values)) return;
  weights(spec, seed, values);
}

// Convolutions by a rule, biases 0; linear layers as torch starts them.
template <Fill weights>
void fill_convolutions(const TensorSpec& spec, std::uint64_t seed, Values values) {
  if (spec.op == Op::linear) return fill_torch(spec, seed, values);
  fill_all<weights>(spec, seed, values);
}

}  // namespace

const Table<InitializerEntry>& initializers() {
  static const Table<InitializerEntry> table(
      "initializer",
      {
          {"torch", "uniform within 1/sqrt(fan_in), biases too: what torch's layers start with",
           "torch.nn.Conv2d and Linear, reset_parameters (kaiming_uniform with a = sqrt 5)",
           fill_torch},
          {"kaiming_normal_fan_out",
           "convolutions normal with deviation sqrt(2/fan_out), linear layers as 'torch'",
           "He et al. 2015, section 2.2; torchvision's ResNet and VGG",
           fill_convolutions<weights_fan_out>},
          {"kaiming_normal_fan_in",
           "convolutions normal with deviation sqrt(2/fan_in), linear layers as 'torch'",
           "He et al. 2015, section 2.2; torchvision's DenseNet",
           fill_convolutions<weights_fan_in>},
          {"truncated_normal_0.1",
           "convolutions normal with deviation 0.1, cut off at two deviations, linear layers as "
           "'torch'",
           "torchvision's Inception-v3; Wang & Guo 2019, table 12, prints the bound as 2",
           fill_convolutions<weights_truncated>},
          {"msra", "everything normal with deviation sqrt(2/fan_in), biases 0",
           "He et al. 2015; Caffe's filler 'msra'", fill_all<weights_fan_in>},
          {"msra_fan_out", "everything normal with deviation sqrt(2/fan_out), biases 0",
           "He et al. 2015; MXNet's Xavier with 'gaussian', 'out' and magnitude 2",
           fill_all<weights_fan_out>},
          {"xavier_uniform", "uniform within sqrt(6/(fan_in + fan_out)), biases 0",
           "Glorot & Bengio 2010, eq. 16; TensorFlow's default", fill_all<weights_xavier>},
          {"xavier_normal", "normal with deviation sqrt(2/(fan_in + fan_out)), biases 0",
           "Glorot & Bengio 2010, eq. 12; Caffe's filler 'msra' with variance_norm AVERAGE",
           fill_all<weights_xavier_normal>},
          {"xavier_caffe", "uniform within sqrt(3/fan_in), biases 0",
           "Caffe's filler 'xavier', which counts the inputs alone",
           fill_all<weights_xavier_caffe>},
          {"gaussian_0.01", "normal with deviation 0.01, biases 0",
           "Krizhevsky et al. 2012, section 5; Caffe's filler 'gaussian'",
           fill_all<weights_gaussian>},
          {"resnet_caffe",
           "the first convolution normal with deviation sqrt(2/fan_out), the others "
           "sqrt(2/fan_in), "
           "linear layers 0.01, biases 0",
           "Wang & Guo 2019, table 12, ResNet-50 in Caffe", fill_all<weights_resnet_caffe>},
          {"residual_caffe",
           "convolutions that keep the width (those of the residual blocks) normal with deviation "
           "0.01, all else as 'xavier_caffe', biases 0",
           "the prototxt files of SphereFace and of center loss", fill_all<weights_residual_caffe>},
          {"alexnet_slim",
           "convolutions as 'xavier_uniform', linear layers normal with deviation 0.005, cut off "
           "at "
           "two deviations, biases 0.1",
           "tensorflow/models, research/slim/nets/alexnet.py", fill_alexnet_slim},
          {"cifar10_tensorflow",
           "convolutions normal with deviation 0.05, linear layers 0.04, both cut off at two "
           "deviations; biases 0.1, of the first convolution 0",
           "tensorflow/models, tutorials/image/cifar10/cifar10.py", fill_cifar10_tensorflow},
          {"cifar10_caffe",
           "convolutions normal with deviation 0.01, the first one 0.0001, linear layers 0.1, "
           "biases "
           "0",
           "BVLC/caffe, examples/cifar10/cifar10_quick_train_test.prototxt",
           fill_all<weights_cifar10_caffe>},
          {"gaussian_0.1", "everything normal with deviation 0.1, biases too",
           "Dieleman, benanne/theano-tutorial, 6_convnet_color.py", weights_gaussian_tenth},
          {"arcface_torch", "convolutions normal with deviation 0.1, linear layers as 'torch'",
           "insightface's arcface_torch, backbones/iresnet.py",
           fill_convolutions<weights_gaussian_tenth>},
          {"transformer",
           "linear layers normal with deviation 0.02, their biases 0, convolutions as 'torch'",
           "insightface's arcface_torch, backbones/vit.py", fill_transformer},
      });
  return table;
}

void initialize(const TensorSpec& spec, std::string_view initializer, std::uint64_t seed,
                std::span<float> values) {
  const InitializerEntry& entry = initializers().at(initializer);
  if (static_cast<std::int64_t>(values.size()) != element_count(spec.shape))
    throw std::invalid_argument(fmt::format("{} has {} numbers, not {}", spec.name,
                                            element_count(spec.shape), values.size()));
  if (spec.op == Op::lookup) return fill_normal(spec, seed, 1, values);
  const auto constant = [&](float v) { std::fill(values.begin(), values.end(), v); };
  switch (spec.role) {
    case TensorRole::slope:
      return constant(0.25F);
    case TensorRole::scale:
    case TensorRole::variance:
      return constant(1);
    case TensorRole::shift:
    case TensorRole::mean:
      return constant(0);
    case TensorRole::position:
      return fill_normal(spec, seed, kTransformerDeviation, values);
    case TensorRole::weight:
    case TensorRole::bias:
      break;
  }
  entry.fill(spec, seed, values);
}

}  // namespace facebench
