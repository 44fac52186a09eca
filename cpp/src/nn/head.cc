#include "facebench/nn/head.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "facebench/core/random.h"
#include "facebench/nn/losses.h"
#include "nn/class_cross_entropy.h"

namespace facebench {
namespace {

// float32, or float64 where the features are: the type that margins and sums are computed in.
at::Tensor at_least_float(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
}

Head::Output cross_entropy(const at::Tensor& logits, const at::Tensor& labels,
                           const at::Tensor& without_margin) {
  const at::Tensor plain = without_margin.detach();
  return {at::cross_entropy_loss(logits, labels), plain, plain.argmax(1)};
}

// The same in passes over tiles, where class_cross_entropy takes these tensors.
Head::Output in_tiles(const c10::intrusive_ptr<MemoryCache>& cache, const at::Tensor& rows,
                      const at::Tensor& scale, const at::Tensor& weight, const at::Tensor& bias,
                      const at::Tensor& labels, const OwnLogit& margin, at::ScalarType type) {
  ClassCrossEntropy r =
      class_cross_entropy(rows, scale.expand({rows.size(0), 1}), weight, bias, labels, margin,
                          /*unit_weights=*/margin != nullptr, type == at::kBFloat16, cache);
  return {r.loss, r.logits, r.predicted};
}

// A plain linear classifier, with or without bias; the base of softmax and center.
class SoftmaxHead : public Head {
 public:
  SoftmaxHead(std::string name, Json options, const HeadShape& shape, bool bias,
              const std::string& init)
      : Head(std::move(name), std::move(options), shape), bias_(bias) {
    add_parameter("weight", {shape.classes, shape.features}, init);
    if (bias_) add_parameter("bias", {shape.classes}, init);
  }

 protected:
  Output compute(const at::Tensor& features, const at::Tensor& labels) override {
    const at::Tensor x = at_least_float(features);
    if (has_class_cross_entropy(x, parameter(0)))
      return in_tiles(cache_, x, at::ones({1, 1}, x.options()), parameter(0),
                      bias_ ? parameter(1) : at::Tensor(), labels, nullptr, features.scalar_type());
    const at::Tensor weight = parameter(0).to(x.scalar_type()).t();
    const at::Tensor logits =
        bias_ ? at::addmm(parameter(1).to(x.scalar_type()), x, weight) : at::mm(x, weight);
    return cross_entropy(logits, labels, logits);
  }

 private:
  bool bias_;
  c10::intrusive_ptr<MemoryCache> cache_ = c10::make_intrusive<MemoryCache>();
};

class CenterHead : public SoftmaxHead {
 public:
  CenterHead(const LossEntry& entry, Json json, const HeadShape& shape,
             const CenterOptions& options)
      : SoftmaxHead(entry.name, std::move(json), shape, options.bias, options.init),
        options_(options) {
    if (options_.update == "caffe")  // its layer has them among the solver's parameters
      add_parameter("centers", {shape.classes, shape.features}, "xavier_caffe");
    else
      add_buffer("centers",
                 at::zeros({shape.classes, shape.features}, at::TensorOptions(shape.dtype)));
  }

 protected:
  Output compute(const at::Tensor& features, const at::Tensor& labels) override {
    Output output = SoftmaxHead::compute(features, labels);
    const at::Tensor x = at_least_float(features);
    const bool facenet = options_.update == "facenet";
    at::Tensor centers = options_.update == "caffe" ? parameters().back().tensor : buffer(0);
    const at::Tensor distance =
        facenet ? facenet_center_distance(x, labels, centers) : center_distance(x, labels, centers);
    output.loss = output.loss + options_.weight * distance;
    if (options_.update == "caffe") {
      // A term of value zero whose gradient is the centres'.
      const at::Tensor gradient = options_.alpha * center_gradient(centers, x, labels);
      output.loss = output.loss + (gradient * (centers - centers.detach())).sum();
    } else if (training()) {
      (facenet ? facenet_update_centers : update_centers)(centers, x, labels, options_.alpha);
    }
    return output;
  }

 private:
  CenterOptions options_;
};

// Heads whose weights have unit rows. The true class's logit is replaced by adding the difference
// to it, so that the (N, C) matrix is read and written once in each direction.
class AngularHead : public Head {
 public:
  AngularHead(const LossEntry& entry, Json json, const HeadShape& shape, const std::string& init)
      : Head(entry.name, std::move(json), shape) {
    add_parameter("weight", {shape.classes, shape.features}, init);
  }

 protected:
  // The true class's logit with margin, from the cosine of it and the row's scale, both (N, 1).
  virtual at::Tensor target(const at::Tensor& cosine, const at::Tensor& scale) = 0;

  // `type` is that of the features.
  Output from_cosines(const at::Tensor& unit, const at::Tensor& scale, const at::Tensor& labels,
                      at::ScalarType type) {
    if (has_class_cross_entropy(unit, parameter(0)))
      return in_tiles(
          cache_, unit, scale, parameter(0), {}, labels,
          [this](const at::Tensor& cosine, const at::Tensor& s) { return target(cosine, s); },
          type);
    const at::Tensor weight = normalize_rows(at_least_float(parameter(0)).to(unit.scalar_type()));
    const at::Tensor logits = at::mm(unit * scale, weight.t());
    const at::Tensor rows = weight.index_select(0, labels);
    const at::Tensor cosine = (unit * rows).sum(1, /*keepdim=*/true).clamp(-1, 1);
    const at::Tensor shift = target(cosine, scale) - scale * cosine;
    const at::Tensor with_margin = logits.scatter_add(1, labels.unsqueeze(1), shift);
    return cross_entropy(with_margin, labels, logits);
  }

 private:
  c10::intrusive_ptr<MemoryCache> cache_ = c10::make_intrusive<MemoryCache>();
};

class SphereFaceHead : public AngularHead {
 public:
  SphereFaceHead(const LossEntry& entry, Json json, const HeadShape& shape,
                 const SphereFaceOptions& options)
      : AngularHead(entry, std::move(json), shape, options.init), options_(options) {
    add_buffer("iteration", at::zeros({}, at::TensorOptions(at::kLong)));
  }

 protected:
  Output compute(const at::Tensor& features, const at::Tensor& labels) override {
    if (training()) buffer(0).add_(1);
    lambda_ = sphereface_lambda(options_, buffer(0).item<std::int64_t>());
    const at::Tensor x = at_least_float(features);
    if (options_.gradient == "caffe") return as_in_caffe(x, labels);
    const at::Tensor norm = x.square().sum(1, /*keepdim=*/true).clamp_min(1e-12).sqrt();
    return from_cosines(x / norm, norm, labels, features.scalar_type());
  }
  at::Tensor target(const at::Tensor& cosine, const at::Tensor& scale) override {
    return scale * (lambda_ * cosine + sphereface_psi(cosine, options_.m)) / (1 + lambda_);
  }

 private:
  Output as_in_caffe(const at::Tensor& x, const at::Tensor& labels) {
    if (training()) {
      const at::NoGradGuard no_grad;
      parameter(0).copy_(normalize_rows(parameter(0)));
    }
    const at::Tensor weight = at_least_float(parameter(0)).to(x.scalar_type());
    const at::Tensor logits = sphereface_caffe_logits(x, weight, labels, options_.m, lambda_);
    return cross_entropy(logits, labels, x.mm(normalize_rows(weight).t()));
  }

  SphereFaceOptions options_;
  double lambda_ = 0;
};

at::Tensor with_margin(const at::Tensor& cosine, const CosFaceOptions& options) {
  return cosine - options.m;
}
at::Tensor with_margin(const at::Tensor& cosine, const ArcFaceOptions& options) {
  return arcface_margin(cosine, options);
}

// Unit features and weights, a margin on the true class's cosine, and one scale for all.
template <class Options>
class MarginHead : public AngularHead {
 public:
  MarginHead(const LossEntry& entry, Json json, const HeadShape& shape, const Options& options)
      : AngularHead(entry, std::move(json), shape, options.init), options_(options) {}

 protected:
  Output compute(const at::Tensor& features, const at::Tensor& labels) override {
    const at::Tensor unit = normalize_rows(at_least_float(features));
    return from_cosines(unit, at::full({1, 1}, options_.s, unit.options()), labels,
                        features.scalar_type());
  }
  at::Tensor target(const at::Tensor& cosine, const at::Tensor& scale) override {
    return scale * with_margin(cosine, options_);
  }

 private:
  Options options_;
};

// Reads the options, fills in the defaults, and makes the head.
template <class Options, class HeadType>
std::unique_ptr<Head> make(const LossEntry& entry, const Json& json, const HeadShape& shape) {
  Options options;
  options_from_json(options, json, "loss " + entry.name);
  Json all = options_to_json(options);
  if constexpr (std::is_same_v<HeadType, SoftmaxHead>)
    return std::make_unique<SoftmaxHead>(entry.name, std::move(all), shape, options.bias,
                                         options.init);
  else
    return std::make_unique<HeadType>(entry, std::move(all), shape, options);
}

}  // namespace

Head::Head(std::string name, Json options, const HeadShape& shape)
    : name_(std::move(name)), options_(std::move(options)), shape_(shape) {}

Head::Output Head::loss(const at::Tensor& features, const at::Tensor& labels) {
  if (features.dim() != 2 || features.size(1) != shape_.features || features.size(0) < 1)
    throw std::invalid_argument(fmt::format(
        "loss {}: features have {} dimensions{}; expected (N, {})", name_, features.dim(),
        features.dim() == 2 ? fmt::format(", {} by {}", features.size(0), features.size(1))
                            : std::string(),
        shape_.features));
  if (!features.is_floating_point())
    throw std::invalid_argument(fmt::format("loss {}: features are not floating point", name_));
  if (labels.dim() != 1 || labels.size(0) != features.size(0) || labels.scalar_type() != at::kLong)
    throw std::invalid_argument(
        fmt::format("loss {}: labels must be {} numbers of int64, one for each row of features",
                    name_, features.size(0)));
  // On another device the look would wait for it; torch's own kernels assert there.
  if (labels.is_cpu()) {
    const std::int64_t low = labels.min().item<std::int64_t>();
    const std::int64_t high = labels.max().item<std::int64_t>();
    if (low < 0 || high >= shape_.classes)
      throw std::out_of_range(fmt::format("loss {}: label {} is outside [0, {})", name_,
                                          low < 0 ? low : high, shape_.classes));
  }
  return compute(features, labels);
}

void Head::set_buffer(std::string_view name, const at::Tensor& value) {
  for (auto& [known, tensor] : buffers_) {
    if (known != name) continue;
    if (value.sizes() != tensor.sizes())
      throw std::invalid_argument(fmt::format("loss {}: buffer {} has another shape", name_, name));
    tensor = value;
    return;
  }
  throw std::invalid_argument(fmt::format("loss {} has no buffer '{}'", name_, name));
}

at::Tensor& Head::add_parameter(const std::string& name, std::vector<std::int64_t> size,
                                const std::string& init) {
  at::Tensor tensor = at::empty(size, at::TensorOptions(at::kDouble));
  Random random(shape_.seed, "head." + name);
  const auto fan_in = static_cast<double>(shape_.features);
  const auto fan_out = static_cast<double>(shape_.classes);
  const double bound = init == "xavier"         ? std::sqrt(6 / (fan_in + fan_out))
                       : init == "xavier_caffe" ? std::sqrt(3 / fan_in)
                                                : 1 / std::sqrt(fan_in);
  const double deviation = init == "normal"          ? 0.01
                           : init == "xavier_normal" ? std::sqrt(2 / (fan_in + fan_out))
                                                     : 0;
  double* data = tensor.data_ptr<double>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    data[i] = deviation > 0 ? deviation * random.normal() : random.uniform(-bound, bound);
  parameters_.push_back({name, tensor.to(shape_.dtype).requires_grad_(true)});
  return parameters_.back().tensor;
}

at::Tensor& Head::add_buffer(const std::string& name, const at::Tensor& value) {
  buffers_.push_back({name, value});
  return buffers_.back().tensor;
}

const Table<LossEntry>& losses() {
  static const Table<LossEntry> table(
      "loss",
      {
          {"softmax", "cross entropy of a linear classifier",
           "Wang & Guo 2019, Eq. 1 (printed without the logarithm, with W_j for W_yi)",
           &options_schema<SoftmaxOptions>(), make<SoftmaxOptions, SoftmaxHead>},
          {"center", "softmax plus the distance to learned class centres",
           "Wen et al., ECCV 2016, Eq. 5; centre distance averaged over the batch as in the "
           "authors' Caffe layer; Wang & Guo 2019, Eq. 2",
           &options_schema<CenterOptions>(), make<CenterOptions, CenterHead>},
          {"sphereface", "A-Softmax: multiplicative angular margin, annealed",
           "Liu et al., CVPR 2017, Eq. 7; annealing as in the authors' Caffe layer, with the true "
           "gradient of psi; Wang & Guo 2019, Eq. 3",
           &options_schema<SphereFaceOptions>(), make<SphereFaceOptions, SphereFaceHead>},
          {"cosface", "additive margin on the cosine",
           "Wang et al., CosFace, CVPR 2018, Eq. 4; Wang & Guo 2019, Eq. 4",
           &options_schema<CosFaceOptions>(), make<CosFaceOptions, MarginHead<CosFaceOptions>>},
          {"arcface", "additive margin on the angle",
           "Deng et al., ArcFace, CVPR 2019, Eq. 3; Wang & Guo 2019, Eq. 5 (printed with "
           "s (cos(theta) + m))",
           &options_schema<ArcFaceOptions>(), make<ArcFaceOptions, MarginHead<ArcFaceOptions>>},
      });
  return table;
}

std::unique_ptr<Head> make_head(std::string_view name, const Json& options,
                                const HeadShape& shape) {
  const LossEntry& entry = losses().at(name);
  if (shape.features < 1 || shape.classes < 1)
    throw std::invalid_argument(fmt::format("loss {}: {} features and {} classes make no head",
                                            name, shape.features, shape.classes));
  return entry.make(entry, options.is_null() ? Json::object() : options, shape);
}

}  // namespace facebench
