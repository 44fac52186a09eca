#include "facebench/nn/losses/parts.h"

#include <ATen/core/grad_mode.h>

#include "facebench/nn/internal/class_cross_entropy.h"
#include "facebench/nn/internal/split_cross_entropy.h"

namespace facebench {
namespace {

// What the passes over all classes take. `bias` and `norms` may be undefined.
struct Classifier {
  at::Tensor rows, scale, weight, bias;
  ClassLoss loss;
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
      c.rows, c.scale.expand({c.rows.size(0), 1}), c.weight, c.bias, labels, c.loss, c.norms,
      /*unit_weights=*/c.loss.target != nullptr, input.type() == at::kBFloat16, split, memory);
  return output_of(r);
}

// With the classes of other processes.
Head::Output over_processes(const TileMemory& memory, const Classifier& c, const HeadInput& input,
                            const ClassSplit& split) {
  const at::Tensor weight = split.rows(c.weight);
  const at::Tensor bias = c.bias.defined() ? split.rows(c.bias) : at::Tensor();
  if (has_class_cross_entropy(c.rows, weight))
    return in_tiles(memory, {c.rows, c.scale, weight, bias, c.loss, c.norms}, input,
                    split.rows_of_images(), &split);
  const auto type = c.rows.scalar_type();
  const ClassCrossEntropy r =
      split_cross_entropy(c.rows, c.scale, weight.to(type), bias.defined() ? bias.to(type) : bias,
                          c.loss, c.norms, /*unit_weights=*/c.loss.target != nullptr, split);
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

LinearHead::LinearHead(Description description, bool bias, const std::string& init)
    : Head(std::move(description)), bias_(bias) {
  add_class_parameter("weight", {shape().classes, shape().features}, init);
  if (bias_) add_class_parameter("bias", {shape().classes}, init);
}

Head::Output LinearHead::classify(const HeadInput& input) {
  const at::Tensor& x = input.features();
  const Classifier classifier{
      x, at::ones({1, 1}, x.options()), parameter(0), bias_ ? parameter(1) : at::Tensor(), {}, {}};
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
    : Head(std::move(description)), centers_(centers) {
  add_class_parameter("weight", {shape().classes * centers, shape().features}, init);
}

Head::Output CosineHead::classify(const HeadInput& input, const at::Tensor& unit,
                                  const at::Tensor& scale, ClassLoss loss,
                                  const at::Tensor& norms) {
  loss.centers = centers_;
  const Classifier classifier{unit, scale, parameter(0), {}, loss, norms};
  if (shape().split_classes)
    return over_processes({cache_, row_update_slot()}, classifier, input, split(input.labels()));
  if (has_class_cross_entropy(unit, parameter(0)))
    return in_tiles({cache_, row_update_slot()}, classifier, input, input.labels(), nullptr);
  const at::Tensor weight = normalize_rows(parameter(0).to(unit.scalar_type()));
  const at::Tensor labels = input.labels().unsqueeze(1);
  const at::Tensor logits = nearest_centers(at::mm(unit * scale, weight.t()), centers_);
  const at::Tensor rows =
      weight.view({shape().classes, centers_, -1}).index_select(0, input.labels());
  const at::Tensor cosine = nearest_cosines(unit, rows).clamp(-1, 1);
  const at::Tensor target = loss.target(cosine, scale, norms);
  if (loss.threshold) {
    const at::Tensor terms = terms_of_others(logits, loss, {}, norms);
    const at::Tensor plain = logits.detach();
    Output output{(loss.threshold->weight * terms).scatter(1, labels, target).sum(1).mean(), plain,
                  plain.argmax(1)};
    output.target = plain.gather(1, labels).squeeze(1);
    return output;
  }
  if (loss.hard) {
    HardNegatives hard;
    {
      const at::NoGradGuard no_grad;
      hard = loss.hard(cosine, scale);
    }
    const at::Tensor others = terms_of_others(logits, loss, hard, norms);
    return cross_entropy(others.scatter(1, labels, target), input.labels(), logits);
  }
  // The true class's logit is replaced by adding the difference to it, so that the (N, C) matrix is
  // read and written once in each direction.
  const at::Tensor with_margin = logits.scatter_add(1, labels, target - scale * cosine);
  return cross_entropy(with_margin, input.labels(), logits);
}

Head::Output CosineHead::classify(
    const HeadInput& input, double s,
    const std::function<at::Tensor(const at::Tensor& cosine)>& margin) {
  return classify(input, s,
                  {.target = [&](const at::Tensor& cosine, const at::Tensor& scale,
                                 const at::Tensor&) { return scale * margin(cosine); }});
}

Head::Output CosineHead::classify(const HeadInput& input, double s, const ClassLoss& loss,
                                  const at::Tensor& norms) {
  const at::Tensor unit = normalize_rows(input.features());
  return classify(input, unit, at::full({1, 1}, s, unit.options()), loss, norms);
}

}  // namespace facebench
