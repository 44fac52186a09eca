#include "facebench/nn/head.h"

#include <ATen/Dispatch.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>

#include "facebench/core/random.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/internal/class_cross_entropy.h"
#include "facebench/nn/internal/class_split.h"
#include "facebench/nn/internal/gathered_rows.h"
#include "facebench/nn/internal/row_update_slot.h"

namespace facebench {

HeadInput::HeadInput(const at::Tensor& features, const at::Tensor& labels, BatchPlace place)
    : HeadInput(features, labels, place, features.scalar_type()) {}

HeadInput::HeadInput(const at::Tensor& features, const at::Tensor& labels, BatchPlace place,
                     at::ScalarType type)
    : given_(features),
      features_(given_.scalar_type() == at::kDouble ? given_ : given_.to(at::kFloat)),
      labels_(labels),
      place_(place),
      type_(type) {}

const at::Tensor& HeadInput::norms() {
  if (!norms_.defined())
    norms_ = features_.square().sum(1, /*keepdim=*/true).clamp_min(1e-12).sqrt();
  return norms_;
}

Head::Head(Description description)
    : description_(std::move(description)), slot_(std::make_shared<RowUpdateSlot>()) {
  const HeadShape& s = description_.shape;
  if (!(s.sample_rate > 0 && s.sample_rate <= 1))
    throw std::invalid_argument(
        fmt::format("loss {}: the sample rate {} is outside (0, 1]", name(), s.sample_rate));
  if (!s.split_classes) {
    if (s.sample_rate < 1)
      throw std::invalid_argument(
          fmt::format("loss {}: a sample rate below 1 needs split_classes", name()));
    return;
  }
  batch_ = BatchUse::split;
  if (s.processes && s.classes < s.processes->size())
    throw std::invalid_argument(fmt::format("loss {}: {} classes cannot be split over {} processes",
                                            name(), s.classes, s.processes->size()));
  if (s.sample_rate < 1) {
    add_buffer("sampled_steps", at::zeros({}, at::TensorOptions(at::kLong)),
               BufferReduction::broadcast);
    first_buffer_ = 1;
  }
}

void Head::take_whole_batch() {
  refuse_split("the loss has no classes to split");
  batch_ = BatchUse::compared;
}

void Head::take_all_logits() {
  refuse_split("it changes more than the true class's logit");
  in_tiles_ = false;
}

at::Tensor Head::class_weight() const {
  return centers_ > 0 ? parameters_[class_weight_].tensor : at::Tensor();
}

bool Head::updates_in_backward() const {
  const at::Tensor weight = class_weight();
  return in_tiles_ && weight.defined() && description_.shape.sample_rate == 1 &&
         has_class_cross_entropy(weight, weight);
}

void Head::refuse_split(std::string_view why) const {
  if (description_.shape.split_classes)
    throw std::invalid_argument(fmt::format("loss {}: split_classes: {}", name(), why));
}

Head::ClassRange Head::own_classes() const {
  const HeadShape& s = description_.shape;
  if (!s.split_classes || !s.processes) return {0, s.classes};
  const std::int64_t rank = s.processes->rank(), size = s.processes->size();
  const std::int64_t first = s.classes * rank / size;
  return {first, s.classes * (rank + 1) / size - first};
}

void Head::check(const at::Tensor& features, const at::Tensor& labels) const {
  const std::int64_t fewest = takes_whole_batch() ? 0 : 1;
  if (features.dim() != 2 || features.size(1) != description_.shape.features ||
      features.size(0) < fewest)
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
  if (labels.is_cpu() && labels.size(0) > 0) {
    const std::int64_t low = labels.min().item<std::int64_t>();
    const std::int64_t high = labels.max().item<std::int64_t>();
    if (low < 0 || high >= description_.shape.classes)
      throw std::out_of_range(fmt::format("loss {}: label {} is outside [0, {})", name(),
                                          low < 0 ? low : high, description_.shape.classes));
  }
}

Head::Output Head::loss(const at::Tensor& features, const at::Tensor& labels, BatchPlace place) {
  check(features, labels);
  Communicator* const processes = description_.shape.processes;
  if (!takes_whole_batch() || !processes) {
    HeadInput input(features, labels, place);
    Output output = compute(input);
    output.images = features.size(0);
    add_observed(input, output);
    return output;
  }
  const auto parts = batch_ == BatchUse::split ? GradientParts::summed : GradientParts::equal;
  const GatheredRows all = gather_rows(features, *processes, parts);
  const at::Tensor of_all = gather_values(labels, *processes);
  if (of_all.size(0) == 0)
    throw std::invalid_argument(fmt::format("loss {}: no process has an image", name()));
  // The whole batch is what each process has one part of: the parts' places begin with the ranks.
  HeadInput input(all.rows, of_all, {place.first / processes->size() * processes->size(), 1},
                  features.scalar_type());
  Output output = compute(input);
  output.images = of_all.size(0);
  output.predicted = output.predicted.index_select(0, all.own);
  add_observed(input, output);
  for (at::Tensor* const t : {&output.cosine, &output.target, &output.highest})
    if (t->defined()) *t = t->index_select(0, all.own);
  return output;
}

void Head::add_observed(const HeadInput& input, Output& output) const {
  if (!observed_) {
    output.target = output.highest = at::Tensor();
    return;
  }
  const at::NoGradGuard no_grad;
  if (centers_ > 0) output.cosine = target_cosines(input);
  if (!output.target.defined() || output.highest.defined()) return;
  const double none = -std::numeric_limits<double>::infinity();
  output.highest = output.logits.detach().scatter(1, input.labels().unsqueeze(1), none).amax(1);
}

at::Tensor Head::target_cosines(const HeadInput& input) const {
  const ClassRange held_range = own_classes();
  const at::Tensor place = input.labels() - held_range.first;
  const at::Tensor held = place.ge(0).logical_and(place.lt(held_range.count));
  const at::Tensor rows = (place.clamp(0, held_range.count - 1).unsqueeze(1) * centers_ +
                           at::arange(centers_, place.options()))
                              .flatten();
  const at::Tensor& x = input.features();
  const at::Tensor weight = parameters_[class_weight_].tensor.index_select(0, rows);
  const at::Tensor unit = normalize_rows(weight.to(x.scalar_type()));
  at::Tensor cosine =
      (unit.view({x.size(0), centers_, x.size(1)}) * normalize_rows(x).unsqueeze(1)).sum(2).amax(1);
  if (description_.shape.split_classes && description_.shape.processes) {
    // All but the holder add zeros, so that the sum is exact.
    cosine = at::where(held, cosine, at::zeros({}, cosine.options()));
    description_.shape.processes->all_reduce(std::span(&cosine, 1));
  }
  return cosine;
}

Communicator& Head::processes() const {
  static SingleProcess alone;
  const HeadShape& s = description_.shape;
  return s.split_classes && s.processes ? *s.processes : alone;
}

ClassSplit Head::held_classes(const at::Tensor& labels) const {
  const ClassRange held_range = own_classes();
  return {processes(), labels, held_range.first, held_range.count, {}};
}

ClassSplit Head::split(const at::Tensor& labels) {
  const HeadShape& s = description_.shape;
  sampled_ = at::Tensor();
  if (s.sample_rate < 1 && training_) {
    at::Tensor& steps = buffers_.front().tensor;
    steps.add_(1);
    sampled_ = draw_classes(labels, static_cast<std::uint64_t>(steps.item<std::int64_t>()))
                   .to(labels.device());
  }
  const ClassRange held_range = own_classes();
  return {processes(), labels, held_range.first, held_range.count, sampled_};
}

// Those of the labels, and others so that there are sample_rate times this process's classes, each
// choice of others as likely as any. Rising: each class in turn is taken with the probability that
// fills the sample (Knuth, TAOCP 3.4.2, algorithm S).
at::Tensor Head::draw_classes(const at::Tensor& labels, std::uint64_t step) const {
  const ClassRange held_range = own_classes();
  std::vector<bool> present(static_cast<std::size_t>(held_range.count), false);
  std::int64_t positives = 0;
  const at::Tensor local = labels.cpu().contiguous();
  for (std::int64_t i = 0; i < local.numel(); ++i) {
    const std::int64_t row = local.const_data_ptr<std::int64_t>()[i] - held_range.first;
    if (row < 0 || row >= held_range.count || present[static_cast<std::size_t>(row)]) continue;
    present[static_cast<std::size_t>(row)] = true;
    ++positives;
  }
  const auto share = static_cast<std::int64_t>(description_.shape.sample_rate *
                                               static_cast<double>(held_range.count));
  const std::int64_t size = std::max({share, positives, std::int64_t{1}});
  Random random(description_.shape.seed, "head.sample",
                {step, static_cast<std::uint64_t>(held_range.first)});
  at::Tensor rows = at::empty({size}, at::TensorOptions(at::kLong));
  std::int64_t *next = rows.data_ptr<std::int64_t>(), needed = size - positives,
               left = held_range.count - positives;
  for (std::int64_t row = 0; row < held_range.count; ++row) {
    if (present[static_cast<std::size_t>(row)]) {
      *next++ = row;
      continue;
    }
    if (random.uniform() * static_cast<double>(left--) >= static_cast<double>(needed)) continue;
    *next++ = row;
    --needed;
  }
  return rows;
}

at::Tensor Head::sampled_classes() const {
  const ClassRange held_range = own_classes();
  if (sampled_.defined()) return sampled_ + held_range.first;
  return at::arange(held_range.first, held_range.first + held_range.count,
                    at::TensorOptions(at::kLong));
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
  parameters_.push_back({{name, draw(name, size, init, {0, size[0]})}});
  return parameters_.back().tensor;
}

at::Tensor& Head::add_class_parameter(const std::string& name, std::vector<std::int64_t> size,
                                      const std::string& init) {
  const std::int64_t each = size[0] / description_.shape.classes;
  if (name == "weight") {
    class_weight_ = parameters_.size();
    centers_ = each;
  }
  if (!description_.shape.split_classes) return add_parameter(name, std::move(size), init);
  const ClassRange held_range = own_classes(),
                   rows{held_range.first * each, held_range.count * each};
  parameters_.push_back({{name, draw(name, size, init, rows)}, rows.first, size[0]});
  return parameters_.back().tensor;
}

// The values of those rows of a tensor of that size. All before them are drawn too: how many random
// numbers a value takes is known afterwards only.
at::Tensor Head::draw(const std::string& name, const std::vector<std::int64_t>& size,
                      const std::string& init, ClassRange rows) const {
  Random random(description_.shape.seed, "head." + name);
  const auto fan_in = static_cast<double>(description_.shape.features);
  const auto fan_out = static_cast<double>(description_.shape.classes);
  const double bound = init == "xavier"         ? std::sqrt(6 / (fan_in + fan_out))
                       : init == "xavier_caffe" ? std::sqrt(3 / fan_in)
                                                : 1 / std::sqrt(fan_in);
  const double deviation = init == "normal"             ? 0.01
                           : init == "normal_0.1"       ? 0.1
                           : init == "xavier_normal"    ? std::sqrt(2 / (fan_in + fan_out))
                           : init == "truncated_normal" ? 0.005
                                                        : 0;
  const bool zero = name == "bias" && init != "linear";  // the frameworks' biases start at 0
  const auto next = [&] {
    if (zero) return 0.0;
    if (deviation == 0) return random.uniform(-bound, bound);
    double z = random.normal();
    while (init == "truncated_normal" && std::abs(z) > 2) z = random.normal();
    return deviation * z;
  };
  std::vector<std::int64_t> rows_size = size;
  rows_size[0] = rows.count;
  at::Tensor tensor = at::empty(rows_size, at::TensorOptions(description_.shape.dtype));
  const std::int64_t width = c10::multiply_integers(size) / size[0];
  for (std::int64_t i = 0; i < rows.first * width; ++i) next();
  AT_DISPATCH_FLOATING_TYPES(tensor.scalar_type(), "head parameter", [&] {
    auto* data = tensor.data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) data[i] = static_cast<scalar_t>(next());
  });
  return tensor.requires_grad_(true);
}

at::Tensor& Head::add_buffer(const std::string& name, const at::Tensor& value,
                             BufferReduction reduction) {
  buffers_.push_back({{{name, value}}, reduction});
  return buffers_.back().tensor;
}

at::Tensor& Head::add_class_buffer(const std::string& name, std::int64_t width,
                                   BufferReduction reduction) {
  const ClassRange held_range = own_classes();
  at::Tensor& tensor = add_buffer(
      name, at::zeros({held_range.count, width}, at::TensorOptions(description_.shape.dtype)),
      reduction);
  if (!description_.shape.split_classes) return tensor;
  buffers_.back().first = held_range.first;
  buffers_.back().total = description_.shape.classes;
  return tensor;
}

}  // namespace facebench
