#include "facebench/metrics/calibration.h"

#include <cmath>
#include <numbers>

#include "facebench/metrics/internal/measures.h"

namespace facebench {
namespace {

// log(1 + exp(x)) without overflow.
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

double measure_min_cllr(const RocCurve& c) {
  if (c.genuine == 0 || c.impostor == 0) return nan;
  const auto genuine = static_cast<double>(c.genuine), impostor = static_cast<double>(c.impostor);
  const std::vector<std::size_t> hull = roc_convex_hull(c);
  double sum = 0;
  for (std::size_t k = 1; k < hull.size(); ++k) {
    const auto g = static_cast<double>(c.true_accepts[hull[k]] - c.true_accepts[hull[k - 1]]);
    const auto i = static_cast<double>(c.false_accepts[hull[k]] - c.false_accepts[hull[k - 1]]);
    if (g == 0 || i == 0) continue;  // an infinite likelihood ratio on the right side costs nothing
    const double likelihood_ratio = g / genuine / (i / impostor);
    sum += g / genuine * std::log1p(1 / likelihood_ratio) +
           i / impostor * std::log1p(likelihood_ratio);
  }
  return sum / (2 * std::numbers::ln2);
}

}  // namespace

double cllr(const Comparisons& c, std::span<const Weight> weights) {
  const std::vector<Weight> w = c.sorted_weights(weights);
  double cost[2] = {0, 0};
  std::int64_t count[2] = {0, 0};
  for (std::size_t i = 0; i < c.size(); ++i) {
    const bool genuine = c.labels()[i] != 0;
    cost[genuine] += w[i] * softplus(genuine ? -c.scores()[i] : c.scores()[i]);
    count[genuine] += w[i];
  }
  require_both(count[1], count[0], "the Cllr");
  return (cost[0] / static_cast<double>(count[0]) + cost[1] / static_cast<double>(count[1])) /
         (2 * std::numbers::ln2);
}

double min_cllr(const RocCurve& curve) {
  require_both(curve.genuine, curve.impostor, "the minimal Cllr");
  return measure_min_cllr(curve);
}

Statistic min_cllr_statistic(std::shared_ptr<const Comparisons> c) {
  Statistic statistic{"min_cllr",
                      [c](std::span<const Weight> w) { return measure_min_cllr(c->roc(w)); },
                      1 / static_cast<double>(c->size())};
  statistic.bases = {base_of(c, true), base_of(c, false)};
  return statistic;
}

}  // namespace facebench
