#include "facebench/metrics/paired.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "facebench/metrics/internal/bootstrap_scheme.h"
#include "facebench/metrics/internal/measures.h"

namespace facebench {
namespace {

PairedComparison difference_of(double a, double b, std::span<const double> values_a,
                               std::span<const double> values_b, const Replicates& how,
                               double level) {
  PairedComparison d;
  d.a = a;
  d.b = b;
  d.value = a - b;
  d.interval.level = level;
  d.interval.method = how.method + "_paired";
  d.interval.replicates = static_cast<int>(values_a.size());
  std::vector<double> differences;
  for (std::size_t r = 0; r < values_a.size(); ++r)
    differences.push_back(values_a[r] - values_b[r]);
  const ReplicateSpread spread = spread_of(differences, how.opposed);
  d.interval.undefined = spread.undefined;
  if (spread.values.size() * 2 < values_a.size()) {
    d.interval.low = d.interval.high = d.p_value = nan;
    return d;
  }
  const double sd = std::sqrt(spread.variance);
  const double half = normal_quantile((1 + level) / 2) * sd;
  d.interval.low = rounded_bound(d.value - half);
  d.interval.high = rounded_bound(d.value + half);
  if (sd > 0)
    d.p_value = rounded_bound(std::erfc(std::abs(d.value) / sd / std::numbers::sqrt2));
  else
    d.p_value = d.value == 0 ? 1 : 0;
  return d;
}

// A statistic of the caller's own is called a rate, and need not be one.
bool are_rates(std::span<const double> values) {
  return std::ranges::none_of(values, [](double v) { return v < 0 || v > 1; });
}

}  // namespace

std::vector<PairedComparison> compare_paired(const Bootstrap& bootstrap_a,
                                             std::span<const Statistic> a,
                                             const Bootstrap& bootstrap_b,
                                             std::span<const Statistic> b,
                                             const BootstrapOptions& options, const Job& job) {
  if (a.size() != b.size())
    throw std::invalid_argument(
        fmt::format("{} statistics of one system but {} of the other", a.size(), b.size()));
  if (!bootstrap_a.same_draws(bootstrap_b))
    throw std::invalid_argument("the systems were not measured on the same comparisons");
  const Replicates left = bootstrap_a.replicates(a, options, job);
  const Replicates right = bootstrap_b.replicates(b, options, job);
  std::vector<PairedComparison> result;
  for (std::size_t k = 0; k < a.size(); ++k) {
    result.push_back(difference_of(left.points[k], right.points[k], left.values[k], right.values[k],
                                   left, options.level));
    if (!a[k].rate || !are_rates(left.values[k]) || !are_rates(right.values[k])) continue;
    Interval& interval = result.back().interval;  // of a difference of rates; NaN stays
    interval.low = std::max(interval.low, -1.0);
    interval.high = std::min(interval.high, 1.0);
  }
  return result;
}

std::vector<PairedComparison> compare_paired(
    const Replicates& r, std::span<const std::pair<std::size_t, std::size_t>> pairs, double level) {
  std::vector<PairedComparison> result;
  for (const auto& [a, b] : pairs)
    result.push_back(
        difference_of(r.points.at(a), r.points.at(b), r.values.at(a), r.values.at(b), r, level));
  return result;
}

}  // namespace facebench
