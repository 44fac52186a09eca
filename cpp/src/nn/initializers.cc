#include "facebench/nn/initializers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/core/random.h"

namespace facebench {
namespace {

Random tensor_stream(const TensorSpec& spec, std::uint64_t seed) {
  return Random(seed, "initialize/" + spec.name);
}

void fill_uniform(const TensorSpec& spec, std::uint64_t seed, double bound,
                  std::span<float> values) {
  Random random = tensor_stream(spec, seed);
  for (float& v : values) v = static_cast<float>(random.uniform(-bound, bound));
}

void fill_normal(const TensorSpec& spec, std::uint64_t seed, double deviation,
                 std::span<float> values) {
  Random random = tensor_stream(spec, seed);
  for (float& v : values) v = static_cast<float>(deviation * random.normal());
}

// Biases are zero in all but torch's own default.
bool fill_zero_bias(const TensorSpec& spec, std::span<float> values) {
  if (spec.role != TensorRole::bias) return false;
  std::fill(values.begin(), values.end(), 0.0F);
  return true;
}

void fill_torch(const TensorSpec& spec, std::uint64_t seed, std::span<float> values) {
  fill_uniform(spec, seed, 1 / std::sqrt(static_cast<double>(spec.fan_in)), values);
}

void fill_kaiming_fan_out(const TensorSpec& spec, std::uint64_t seed, std::span<float> values) {
  if (spec.op == Op::linear) return fill_torch(spec, seed, values);
  if (fill_zero_bias(spec, values)) return;
  fill_normal(spec, seed, std::sqrt(2.0 / static_cast<double>(spec.fan_out)), values);
}

void fill_kaiming_fan_in(const TensorSpec& spec, std::uint64_t seed, std::span<float> values) {
  if (spec.op == Op::linear) return fill_torch(spec, seed, values);
  if (fill_zero_bias(spec, values)) return;
  fill_normal(spec, seed, std::sqrt(2.0 / static_cast<double>(spec.fan_in)), values);
}

void fill_msra(const TensorSpec& spec, std::uint64_t seed, std::span<float> values) {
  if (fill_zero_bias(spec, values)) return;
  fill_normal(spec, seed, std::sqrt(2.0 / static_cast<double>(spec.fan_in)), values);
}

void fill_xavier(const TensorSpec& spec, std::uint64_t seed, std::span<float> values) {
  if (fill_zero_bias(spec, values)) return;
  fill_uniform(spec, seed, std::sqrt(6.0 / static_cast<double>(spec.fan_in + spec.fan_out)),
               values);
}

void fill_xavier_normal(const TensorSpec& spec, std::uint64_t seed, std::span<float> values) {
  if (fill_zero_bias(spec, values)) return;
  fill_normal(spec, seed, std::sqrt(2.0 / static_cast<double>(spec.fan_in + spec.fan_out)), values);
}

void fill_xavier_caffe(const TensorSpec& spec, std::uint64_t seed, std::span<float> values) {
  if (fill_zero_bias(spec, values)) return;
  fill_uniform(spec, seed, std::sqrt(3.0 / static_cast<double>(spec.fan_in)), values);
}

void fill_gaussian(const TensorSpec& spec, std::uint64_t seed, std::span<float> values) {
  if (fill_zero_bias(spec, values)) return;
  fill_normal(spec, seed, 0.01, values);
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
           "He et al. 2015, section 2.2; torchvision's ResNet and VGG", fill_kaiming_fan_out},
          {"kaiming_normal_fan_in",
           "convolutions normal with deviation sqrt(2/fan_in), linear layers as 'torch'",
           "He et al. 2015, section 2.2; torchvision's DenseNet", fill_kaiming_fan_in},
          {"msra", "everything normal with deviation sqrt(2/fan_in), biases 0",
           "He et al. 2015; Caffe's filler 'msra'", fill_msra},
          {"xavier_uniform", "uniform within sqrt(6/(fan_in + fan_out)), biases 0",
           "Glorot & Bengio 2010, eq. 16; TensorFlow's default", fill_xavier},
          {"xavier_normal", "normal with deviation sqrt(2/(fan_in + fan_out)), biases 0",
           "Glorot & Bengio 2010, eq. 12; Caffe's filler 'msra' with variance_norm AVERAGE",
           fill_xavier_normal},
          {"xavier_caffe", "uniform within sqrt(3/fan_in), biases 0",
           "Caffe's filler 'xavier', which counts the inputs alone", fill_xavier_caffe},
          {"gaussian_0.01", "normal with deviation 0.01, biases 0",
           "Krizhevsky et al. 2012, section 5; Caffe's filler 'gaussian'", fill_gaussian},
      });
  return table;
}

void initialize(const TensorSpec& spec, std::string_view initializer, std::uint64_t seed,
                std::span<float> values) {
  const InitializerEntry& entry = initializers().at(initializer);
  if (static_cast<std::int64_t>(values.size()) != element_count(spec.shape))
    throw std::invalid_argument(fmt::format("{} has {} numbers, not {}", spec.name,
                                            element_count(spec.shape), values.size()));
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
    case TensorRole::weight:
    case TensorRole::bias:
      break;
  }
  entry.fill(spec, seed, values);
}

}  // namespace facebench
