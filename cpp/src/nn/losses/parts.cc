#include "nn/losses/parts.h"

#include "nn/class_cross_entropy.h"
#include "nn/split_cross_entropy.h"

namespace facebench {
namespace {

// What the passes over all classes take. `bias` and `norms` may be undefined, `target` empty.
struct Classifier {
  at::Tensor rows, scale, weight, bias;
  TargetLogit target;
  at::Tensor norms;
};

Head::Output output_of(const ClassCrossEntropy& r) {
  Head::Output output{r.loss, r.logits, r.predicted};
  output.target = r.target;
  output.highest = r.highest;
  return output;
}

// In passes over tiles of classes, where class_cross_entropy takes these tensors.
Head::Output in_tiles(const TileMemory& memory, const Classifier& c, const HeadInput& input,
                      const at::Tensor& labels, const ClassSplit* split) {
  ClassCrossEntropy r = class_cross_entropy(
      c.rows, c.scale.expand({c.rows.size(0), 1}), c.weight, c.bias, labels, c.target, c.norms,
      /*unit_weights=*/c.target != nullptr, input.type() == at::kBFloat16, split, memory);
  return output_of(r);
}

// With the classes of other processes.
Head::Output over_processes(const TileMemory& memory, const Classifier& c, const HeadInput& input,
                            const ClassSplit& split) {
  const at::Tensor weight = split.rows(c.weight);
  const at::Tensor bias = c.bias.defined() ? split.rows(c.bias) : at::Tensor();
  if (has_class_cross_entropy(c.rows, weight))
    return in_tiles(memory, {c.rows, c.scale, weight, bias, c.target, c.norms}, input,
                    split.rows_of_images(), &split);
  const auto type = c.rows.scalar_type();
  const ClassCrossEntropy r =
      split_cross_entropy(c.rows, c.scale, weight.to(type), bias.defined() ? bias.to(type) : bias,
                          c.target, c.norms, /*unit_weights=*/c.target != nullptr, split);
  return output_of(r);
}

}  // namespace

Head::Output cross_entropy(const at::Tensor& logits, const at::Tensor& labels,
                           const at::Tensor& without_margin) {
  const at::Tensor plain = without_margin.detach();
  Head::Output output{at::cross_entropy_loss(logits, labels), plain, plain.argmax(1)};
  output.target = logits.detach().gather(1, labels.unsqueeze(1)).squeeze(1);
  return output;
}

Head::Output cross_entropy(double s, const at::Tensor& others, const at::Tensor& target,
                           const at::Tensor& labels, const at::Tensor& cosine) {
  return cross_entropy(s * others.scatter(1, labels.unsqueeze(1), target), labels, s * cosine);
}

LinearHead::LinearHead(Description description, bool bias, const std::string& init)
    : Head(std::move(description)), bias_(bias) {
  add_class_parameter("weight", {shape().classes, shape().features}, init);
  if (bias_) add_class_parameter("bias", {shape().classes}, init);
}

Head::Output LinearHead::classify(const HeadInput& input) {
  const at::Tensor& x = input.features();
  const Classifier classifier{
      x, at::ones({1, 1}, x.options()), parameter(0), bias_ ? parameter(1) : at::Tensor(), nullptr,
      {}};
  if (shape().split_classes)
    return over_processes({cache_, row_update_slot()}, classifier, input, split(input.labels()));
  if (has_class_cross_entropy(x, parameter(0)))
    return in_tiles({cache_, row_update_slot()}, classifier, input, input.labels(), nullptr);
  const at::Tensor weight = parameter(0).to(x.scalar_type()).t();
  const at::Tensor logits =
      bias_ ? at::addmm(parameter(1).to(x.scalar_type()), x, weight) : at::mm(x, weight);
  return cross_entropy(logits, input.labels(), logits);
}

CosineHead::CosineHead(Description description, const std::string& init, std::int64_t centers)
    : Head(std::move(description)) {
  add_class_parameter("weight", {shape().classes * centers, shape().features}, init);
}

Head::Output CosineHead::classify(const HeadInput& input, const at::Tensor& unit,
                                  const at::Tensor& scale, const TargetLogit& target,
                                  const at::Tensor& norms) {
  const Classifier classifier{unit, scale, parameter(0), {}, target, norms};
  if (shape().split_classes)
    return over_processes({cache_, row_update_slot()}, classifier, input, split(input.labels()));
  if (has_class_cross_entropy(unit, parameter(0)))
    return in_tiles({cache_, row_update_slot()}, classifier, input, input.labels(), nullptr);
  // The true class's logit is replaced by adding the difference to it, so that the (N, C) matrix is
  // read and written once in each direction.
  const at::Tensor weight = normalize_rows(parameter(0).to(unit.scalar_type()));
  const at::Tensor logits = at::mm(unit * scale, weight.t());
  const at::Tensor rows = weight.index_select(0, input.labels());
  const at::Tensor cosine = (unit * rows).sum(1, /*keepdim=*/true).clamp(-1, 1);
  const at::Tensor shift = target(cosine, scale, norms) - scale * cosine;
  const at::Tensor with_margin = logits.scatter_add(1, input.labels().unsqueeze(1), shift);
  return cross_entropy(with_margin, input.labels(), logits);
}

Head::Output CosineHead::classify(
    const HeadInput& input, double s,
    const std::function<at::Tensor(const at::Tensor& cosine)>& margin) {
  const at::Tensor unit = normalize_rows(input.features());
  return classify(input, unit, at::full({1, 1}, s, unit.options()),
                  [&](const at::Tensor& cosine, const at::Tensor& scale, const at::Tensor&) {
                    return scale * margin(cosine);
                  });
}

at::Tensor CosineHead::cosines(const HeadInput& input) {
  const at::Tensor& x = input.features();
  return at::mm(normalize_rows(x), normalize_rows(parameter(0).to(x.scalar_type())).t())
      .clamp(-1, 1);
}

}  // namespace facebench
