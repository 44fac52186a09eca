#include "facebench/nn/internal/split_cross_entropy.h"

#include <ATen/core/grad_mode.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "facebench/nn/head.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {

ClassCrossEntropy split_cross_entropy(const at::Tensor& rows, const at::Tensor& scale,
                                      const at::Tensor& weight, const at::Tensor& bias,
                                      const ClassLoss& loss, const at::Tensor& norms,
                                      bool unit_weights, const ClassSplit& split) {
  const at::Tensor& images = split.held_images();
  const at::Tensor own_rows = split.rows_of_images().index_select(0, images);
  const at::Tensor factors = unit_weights ? normalize_rows(weight) : weight;
  at::Tensor logits = nearest_centers(at::mm(rows * scale, factors.t()), loss.centers);
  if (bias.defined()) logits = logits + bias;
  const auto given = [&](const at::Tensor& t) {
    return t.defined() ? t : at::empty({0}, rows.options());
  };
  const TrueClass own = true_class(rows, scale, weight, given(bias), split.rows_of_images(), loss,
                                   given(norms), unit_weights, &split);

  const at::Tensor terms = terms_of_others(logits, loss, own.hard, norms);
  const double share = 1 / static_cast<double>(rows.size(0));
  at::Tensor value, predicted, rival, by_terms, lost;  // the last two: gradients, others and own
  {
    const at::NoGradGuard no_grad;
    const auto without_own = [&](const at::Tensor& values, double instead) {
      return values.detach().index_put({images, own_rows}, at::full({}, instead, values.options()));
    };
    const double none = -std::numeric_limits<double>::infinity();
    const at::Tensor others = without_own(logits, none);
    const auto [highest, winner] = others.max(1);
    const at::Tensor named = at::where(highest.isinf(), at::full({}, -1, winner.options()), winner);
    const at::Tensor mine = own.logit.squeeze(1).to(at::kDouble);
    ClassSplit::Others all;
    if (loss.threshold) {
      by_terms = without_own(at::full_like(terms, loss.threshold->weight), 0);
      all =
          split.over_processes({(terms * by_terms).sum(1), highest, named}, ClassSplit::Sum::plain);
      value = mine + all.sum;
      lost = split.held().to(at::kDouble);
    } else {
      const at::Tensor summed = loss.hard ? without_own(terms, none) : others;
      all = split.over_processes({summed.logsumexp(1), highest, named}, ClassSplit::Sum::logarithm);
      const at::Tensor total = at::logaddexp(all.sum, mine);
      // log(exp(a) + exp(b)) - b, which is far below a and b where training has gone well.
      value = at::softplus(all.sum - mine, 1, /*threshold=*/700);
      by_terms = (summed - total.unsqueeze(1).to(summed.scalar_type())).exp();
      lost = (mine - total).expm1() * split.held();
    }
    value = value.mean().to(rows.scalar_type());
    by_terms = by_terms * share;
    lost = (lost * share).unsqueeze(1).to(rows.scalar_type());
    predicted = split.predicted(own.without_margin.squeeze(1), all);
    rival = all.highest;
  }
  // A sum with the loss's gradients, whose own value is taken off.
  const at::Tensor own_centers =
      factors.view({-1, loss.centers, rows.size(1)}).index_select(0, own_rows);
  const at::Tensor cosine = nearest_cosines(rows.index_select(0, images), own_centers);
  at::Tensor carrier = (terms * by_terms).sum() +
                       (cosine * (lost * own.by_cosine).index_select(0, images)).sum() +
                       (scale * (lost * own.by_scale)).sum();
  if (norms.defined()) carrier = carrier + (norms * (lost * own.by_norms)).sum();
  if (bias.defined())
    carrier =
        carrier + (bias.index_select(0, own_rows) * lost.squeeze(1).index_select(0, images)).sum();
  const at::Tensor& target = loss.threshold ? own.without_margin : own.logit;
  return {value + (carrier - carrier.detach()), logits.detach(), predicted, target.squeeze(1),
          rival};
}

}  // namespace facebench
