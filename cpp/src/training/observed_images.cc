#include "training/observed_images.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "nn/aten.h"

namespace facebench {
namespace {

// The value at share `p` of sorted values, between two of them in proportion.
double quantile(const std::vector<double>& sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

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
  const at::Tensor norms = features.to(at::kDouble).square().sum(1).sqrt().cpu();
  const at::Tensor none = at::full_like(norms, std::numeric_limits<double>::quiet_NaN());
  const auto given = [&](const at::Tensor& t) { return t.defined() ? t.to(norms) : none; };
  const at::Tensor violated = output.target.defined() && output.highest.defined()
                                  ? output.target.le(output.highest)
                                  : at::Tensor();
  parts_.push_back(at::stack({norms, given(output.cosine), given(violated)}, 1));
}

Observation ObservedImages::summary(Communicator& communicator) const {
  const at::Tensor own = at::cat(parts_);
  const at::Tensor all = at::cat(communicator.all_gather(own)).cpu();
  const std::vector<double> norms = column(std::get<0>(all.sort(0)), 0);
  Observation o;
  o.target_cosine = mean(column(all, 1));
  o.violated = mean(column(all, 2));
  o.norm_p05 = quantile(norms, 0.05);
  o.norm_p50 = quantile(norms, 0.5);
  o.norm_p95 = quantile(norms, 0.95);
  return o;
}

}  // namespace facebench
