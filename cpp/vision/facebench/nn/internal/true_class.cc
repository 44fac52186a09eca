#include "facebench/nn/internal/true_class.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <tuple>

#include "facebench/nn/internal/aten.h"
#include "facebench/nn/normalize_rows.h"

namespace facebench {

TrueClass true_class(const at::Tensor& rows, const at::Tensor& scale, const at::Tensor& weight,
                     const at::Tensor& bias, const at::Tensor& labels, const ClassLoss& loss,
                     const at::Tensor& norms, bool unit_weights, const ClassSplit* split) {
  using torch::autograd::variable_list;
  const at::NoGradGuard no_grad;
  // Where this process does not hold the class, any row will do: the holder's value is taken.
  const at::Tensor index = split ? labels.clamp_min(0) : labels;
  TrueClass target;
  target.by_norms = at::empty({0}, rows.options());
  const at::Tensor centers = at::arange(loss.centers, index.options());
  const at::Tensor mine =
      weight.index_select(0, (index.unsqueeze(1) * loss.centers + centers).flatten());
  const at::Tensor factors = unit_weights ? normalize_rows(mine) : mine;
  target.cosine = nearest_cosines(rows, factors.view({rows.size(0), loss.centers, rows.size(1)}));
  if (split) target.cosine = split->from_holders(target.cosine);
  if (!loss.target) {
    target.logit = scale * target.cosine;
    if (bias.numel()) {
      at::Tensor shift = bias.index_select(0, index).unsqueeze(1);
      if (split) shift = split->from_holders(shift);
      target.logit = target.logit + shift;
    }
    target.without_margin = target.logit;
    target.by_cosine = scale;
    target.by_scale = target.cosine;
    return target;
  }
  target.without_margin = scale * target.cosine;
  const at::AutoGradMode gradients(true);
  const at::Tensor c = target.cosine.detach().requires_grad_(true);
  const at::Tensor s = scale.detach().clone().requires_grad_(true);
  variable_list inputs{c, s};
  if (norms.numel()) inputs.push_back(norms.detach().clone().requires_grad_(true));
  const at::Tensor held = c.clamp(-1, 1);
  const at::Tensor logit = loss.target(held, s, norms.numel() ? inputs.back() : at::Tensor());
  const variable_list slopes = torch::autograd::grad({logit}, inputs, {at::ones_like(logit)});
  target.logit = logit.detach();
  target.by_cosine = slopes[0];
  target.by_scale = slopes[1];
  if (norms.numel()) target.by_norms = slopes[2];
  if (loss.hard) {
    const at::NoGradGuard no_slopes;
    target.hard = loss.hard(held, scale);
  }
  return target;
}

at::Tensor nearest_centers(const at::Tensor& values, std::int64_t centers) {
  if (centers == 1) return values;
  return std::get<0>(values.view({values.size(0), values.size(1) / centers, centers}).max(2));
}

at::Tensor nearest_cosines(const at::Tensor& rows, const at::Tensor& centers) {
  return nearest_centers((rows.unsqueeze(1) * centers).sum(2), centers.size(1));
}

at::Tensor terms_of_others(const at::Tensor& logits, const ClassLoss& loss,
                           const HardNegatives& hard, const at::Tensor& norms) {
  if (loss.threshold) {
    const double limit = loss.threshold->limit;
    return at::logaddexp((logits - norms).clamp(-limit, limit), at::zeros({}, logits.options()));
  }
  if (!loss.hard) return logits;
  return at::where(logits.detach() > hard.bound, logits * (hard.linear + hard.square * logits),
                   logits);
}

}  // namespace facebench
