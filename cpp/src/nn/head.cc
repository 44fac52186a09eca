#include "facebench/nn/head.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "facebench/core/random.h"

namespace facebench {

at::Tensor normalize_rows(const at::Tensor& x) {
  return x * x.square().sum(1, /*keepdim=*/true).clamp_min(1e-12).rsqrt();
}

HeadInput::HeadInput(const at::Tensor& features, const at::Tensor& labels, BatchPlace place)
    : given_(features),
      features_(given_.scalar_type() == at::kDouble ? given_ : given_.to(at::kFloat)),
      labels_(labels),
      place_(place) {}

const at::Tensor& HeadInput::norms() {
  if (!norms_.defined())
    norms_ = features_.square().sum(1, /*keepdim=*/true).clamp_min(1e-12).sqrt();
  return norms_;
}

Head::Output Head::loss(const at::Tensor& features, const at::Tensor& labels, BatchPlace place) {
  if (features.dim() != 2 || features.size(1) != description_.shape.features ||
      features.size(0) < 1)
    throw std::invalid_argument(fmt::format(
        "loss {}: features have {} dimensions{}; expected (N, {})", name(), features.dim(),
        features.dim() == 2 ? fmt::format(", {} by {}", features.size(0), features.size(1))
                            : std::string(),
        description_.shape.features));
  if (!features.is_floating_point())
    throw std::invalid_argument(fmt::format("loss {}: features are not floating point", name()));
  if (labels.dim() != 1 || labels.size(0) != features.size(0) || labels.scalar_type() != at::kLong)
    throw std::invalid_argument(
        fmt::format("loss {}: labels must be {} numbers of int64, one for each row of features",
                    name(), features.size(0)));
  // On another device the look would wait for it; torch's own kernels assert there.
  if (labels.is_cpu()) {
    const std::int64_t low = labels.min().item<std::int64_t>();
    const std::int64_t high = labels.max().item<std::int64_t>();
    if (low < 0 || high >= description_.shape.classes)
      throw std::out_of_range(fmt::format("loss {}: label {} is outside [0, {})", name(),
                                          low < 0 ? low : high, description_.shape.classes));
  }
  HeadInput input(features, labels, place);
  return compute(input);
}

void Head::set_buffer(std::string_view name, const at::Tensor& value) {
  for (HeadBuffer& buffer : buffers_) {
    if (buffer.name != name) continue;
    if (value.sizes() != buffer.tensor.sizes())
      throw std::invalid_argument(
          fmt::format("loss {}: buffer {} has another shape", this->name(), name));
    buffer.tensor = value;
    return;
  }
  throw std::invalid_argument(fmt::format("loss {} has no buffer '{}'", this->name(), name));
}

at::Tensor& Head::add_parameter(const std::string& name, std::vector<std::int64_t> size,
                                const std::string& init) {
  at::Tensor tensor = at::empty(size, at::TensorOptions(at::kDouble));
  Random random(description_.shape.seed, "head." + name);
  const auto fan_in = static_cast<double>(description_.shape.features);
  const auto fan_out = static_cast<double>(description_.shape.classes);
  const double bound = init == "xavier"         ? std::sqrt(6 / (fan_in + fan_out))
                       : init == "xavier_caffe" ? std::sqrt(3 / fan_in)
                                                : 1 / std::sqrt(fan_in);
  const double deviation = init == "normal"             ? 0.01
                           : init == "xavier_normal"    ? std::sqrt(2 / (fan_in + fan_out))
                           : init == "truncated_normal" ? 0.005
                                                        : 0;
  const bool zero = name == "bias" && init != "linear";  // the frameworks' biases start at 0
  const auto draw = [&] {
    if (zero) return 0.0;
    if (deviation == 0) return random.uniform(-bound, bound);
    double z = random.normal();
    while (init == "truncated_normal" && std::abs(z) > 2) z = random.normal();
    return deviation * z;
  };
  double* data = tensor.data_ptr<double>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) data[i] = draw();
  parameters_.push_back({name, tensor.to(description_.shape.dtype).requires_grad_(true)});
  return parameters_.back().tensor;
}

at::Tensor& Head::add_buffer(const std::string& name, const at::Tensor& value,
                             BufferReduction reduction) {
  buffers_.push_back({{name, value}, reduction});
  return buffers_.back().tensor;
}

}  // namespace facebench
