#include "facebench/training/internal/observed_images.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "facebench/metrics/summary.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

std::vector<double> column(const at::Tensor& table, std::int64_t i) {
  const at::Tensor values = table.select(1, i).contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

// Unset where a value is NaN, which stands for none.
std::optional<double> mean(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (std::isnan(sum)) return std::nullopt;
  return sum / static_cast<double>(values.size());
}

}  // namespace

void ObservedImages::add(const at::Tensor& features, const Head::Output& output) {
  const at::NoGradGuard no_grad;
  const at::Tensor rows = features.to(at::kDouble);
  const at::Tensor norms = rows.square().sum(1).sqrt().cpu();
  const at::Tensor none = at::full_like(norms, std::numeric_limits<double>::quiet_NaN());
  const auto given = [&](const at::Tensor& t) { return t.defined() ? t.to(norms) : none; };
  const at::Tensor violated = output.target.defined() && output.highest.defined()
                                  ? output.target.le(output.highest)
                                  : at::Tensor();
  const at::Tensor apart =
      rows.size(0) > 1
          ? (rows - rows.narrow(0, 0, 1)).square().sum(1).sqrt().cpu() / norms.clamp_min(1e-300)
          : none;
  parts_.push_back(at::stack({norms, given(output.cosine), given(violated), apart}, 1));
}

Observation ObservedImages::summary(Communicator& communicator) const {
  const at::Tensor rows_here = at::cat(parts_);
  const at::Tensor all = at::cat(communicator.all_gather(rows_here)).cpu();
  const std::vector<double> norms = column(std::get<0>(all.sort(0)), 0);
  Observation o;
  o.target_cosine = mean(column(all, 1));
  o.violated = mean(column(all, 2));
  for (const double apart : column(all, 3))
    if (!std::isnan(apart)) o.spread = std::max(o.spread.value_or(0), apart);
  o.norm_p05 = linear_quantile(norms, 0.05);
  o.norm_p50 = linear_quantile(norms, 0.5);
  o.norm_p95 = linear_quantile(norms, 0.95);
  return o;
}

}  // namespace facebench
