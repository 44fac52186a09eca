#include "nn/split_cross_entropy.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "facebench/nn/head.h"

namespace facebench {

ClassCrossEntropy split_cross_entropy(const at::Tensor& rows, const at::Tensor& scale,
                                      const at::Tensor& weight, const at::Tensor& bias,
                                      const ClassLoss& loss, const at::Tensor& norms,
                                      bool unit_weights, const ClassSplit& split) {
  const at::Tensor& images = split.held_images();
  const at::Tensor own_rows = split.rows_of_images().index_select(0, images);
  const at::Tensor factors = unit_weights ? normalize_rows(weight) : weight;
  at::Tensor logits = at::mm(rows * scale, factors.t());
  if (bias.defined()) logits = logits + bias;
  const auto given = [&](const at::Tensor& t) {
    return t.defined() ? t : at::empty({0}, rows.options());
  };
  const TrueClass own = true_class(rows, scale, weight, given(bias), split.rows_of_images(), loss,
                                   given(norms), unit_weights, &split);

  const double share = 1 / static_cast<double>(rows.size(0));
  at::Tensor value, predicted, rival, by_logits, lost;  // the last two: gradients, others and own
  {
    const at::NoGradGuard no_grad;
    const double none = -std::numeric_limits<double>::infinity();
    const at::Tensor others =
        logits.detach().index_put({images, own_rows}, at::full({}, none, logits.options()));
    const auto [highest, winner] = others.max(1);
    const ClassSplit::Others all = split.over_processes(
        {others.logsumexp(1), highest,
         at::where(highest.isinf(), at::full({}, -1, winner.options()), winner)});
    predicted = split.predicted(own.without_margin.squeeze(1), all);
    rival = all.highest;
    const at::Tensor mine = own.logit.squeeze(1).to(at::kDouble);
    const at::Tensor total = at::logaddexp(all.log_sum, mine);
    // log(exp(a) + exp(b)) - b, which is far below a and b where training has gone well.
    value = at::softplus(all.log_sum - mine, 1, /*threshold=*/700).mean().to(rows.scalar_type());
    by_logits = (others - total.unsqueeze(1).to(others.scalar_type())).exp() * share;
    lost = ((mine - total).expm1() * share * split.held()).unsqueeze(1).to(rows.scalar_type());
  }
  // A sum with the loss's gradients, whose own value is taken off.
  const at::Tensor cosine =
      (rows.index_select(0, images) * factors.index_select(0, own_rows)).sum(1, /*keepdim=*/true);
  at::Tensor carrier = (logits * by_logits).sum() +
                       (cosine * (lost * own.by_cosine).index_select(0, images)).sum() +
                       (scale * (lost * own.by_scale)).sum();
  if (norms.defined()) carrier = carrier + (norms * (lost * own.by_norms)).sum();
  if (bias.defined())
    carrier =
        carrier + (bias.index_select(0, own_rows) * lost.squeeze(1).index_select(0, images)).sum();
  return {value + (carrier - carrier.detach()), logits.detach(), predicted, own.logit.squeeze(1),
          rival};
}

}  // namespace facebench
