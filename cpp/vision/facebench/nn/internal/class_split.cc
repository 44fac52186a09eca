#include "facebench/nn/internal/class_split.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <span>
#include <vector>

#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Selected rows of a parameter. Its gradient is a sparse tensor of these rows, so that neither
// memory nor time goes to the others.
class SelectRows : public torch::autograd::Function<SelectRows> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& parameter,
                            const at::Tensor& index) {
    ctx->save_for_backward({index});
    ctx->saved_data["size"] = parameter.sizes().vec();
    return parameter.index_select(0, index);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& outputs) {
    const at::Tensor index = ctx->get_saved_variables()[0].unsqueeze(0);
    return {at::sparse_coo_tensor(index, outputs[0], ctx->saved_data["size"].toIntVector(),
                                  outputs[0].options().layout(at::kSparse), /*is_coalesced=*/true),
            {}};
  }
};

}  // namespace

ClassSplit::ClassSplit(Communicator& processes, const at::Tensor& labels, std::int64_t first,
                       std::int64_t count, const at::Tensor& sampled)
    : processes_(processes), labels_(labels), sampled_(sampled), first_(first), count_(count) {
  const at::NoGradGuard no_grad;
  const at::Tensor local = labels - first;
  held_ = local.ge(0).logical_and(local.lt(count));
  held_images_ = held_.nonzero().squeeze(1);
  // A sample holds every true class: the place of a label among its rows is exact.
  rows_ = at::where(held_, sampled.defined() ? at::searchsorted(sampled, local) : local,
                    at::full({}, -1, local.options()));
}

at::Tensor ClassSplit::rows(const at::Tensor& parameter) const {
  if (!sampled_.defined()) return parameter;
  const std::int64_t each = parameter.size(0) / count_;
  const at::Tensor places = at::arange(each, sampled_.options());
  return SelectRows::apply(parameter, (sampled_.unsqueeze(1) * each + places).flatten());
}

at::Tensor ClassSplit::from_holders(const at::Tensor& values) const {
  // All others add zeros, so that the sum is exact.
  at::Tensor sum =
      at::where(held_.unsqueeze(1), values, at::zeros({}, values.options())).contiguous();
  processes_.all_reduce(std::span(&sum, 1));
  return sum;
}

at::Tensor ClassSplit::summed(const at::Tensor& part) const {
  const at::Tensor local = part.detach();
  at::Tensor sum = local.clone();
  processes_.all_reduce(std::span(&sum, 1));
  return part + (sum - local);
}

ClassSplit::Others ClassSplit::over_processes(const Others& local, Sum kind) const {
  const at::Tensor winner =
      sampled_.defined() ? sampled_.index_select(0, local.winner.clamp_min(0)) : local.winner;
  const at::Tensor named = at::where(local.winner.ge(0), winner + first_, local.winner);
  const at::Tensor told =
      at::stack({local.sum.to(at::kDouble), local.highest.to(at::kDouble), named.to(at::kDouble)});
  Others all;
  // Classes rise with the rank: of equal logits the first class wins.
  for (const at::Tensor& part : processes_.all_gather(told)) {
    if (!all.sum.defined()) {
      all = {part[0], part[1], part[2]};
      continue;
    }
    const at::Tensor higher = part[1].gt(all.highest);
    all = {kind == Sum::plain ? all.sum + part[0] : at::logaddexp(all.sum, part[0]),
           at::where(higher, part[1], all.highest), at::where(higher, part[2], all.winner)};
  }
  all.winner = all.winner.to(at::kLong);
  return all;
}

at::Tensor ClassSplit::predicted(const at::Tensor& true_logit, const Others& others) const {
  const at::Tensor logit = true_logit.to(at::kDouble);
  const at::Tensor wins =
      others.winner.lt(0)
          .logical_or(logit.gt(others.highest))
          .logical_or(logit.eq(others.highest).logical_and(labels_.lt(others.winner)));
  return at::where(wins, labels_, others.winner);
}

}  // namespace facebench
