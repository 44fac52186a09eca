#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/metrics/summary.h"
#include "metrics/bootstrap_scheme.h"
#include "metrics/measures.h"

// The interval of a statistic out of its replicates.
namespace facebench {
namespace {

// The quantile at position p * (n + 1) of sorted values, linear between neighbours.
double quantile(std::span<const double> sorted, double p) {
  const double position = std::clamp(p * (static_cast<double>(sorted.size()) + 1) - 1, 0.0,
                                     static_cast<double>(sorted.size() - 1));
  const auto i = static_cast<std::size_t>(position);
  if (i + 1 == sorted.size()) return sorted[i];
  return sorted[i] + (position - static_cast<double>(i)) * (sorted[i + 1] - sorted[i]);
}

double logit(double value, double resolution) {
  const double edge = std::clamp(resolution / 2, 1e-12, 0.25);
  const double v = std::clamp(value, edge, 1 - edge);
  return std::log(v / (1 - v));
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// The quantile of Student's t, p > 1/2, by its expansion in 1 / degrees of freedom (Abramowitz &
// Stegun 26.7.5): within 1 % from 3 degrees of freedom on.
double student_quantile(double p, double freedom) {
  const double z = normal_quantile(p), z2 = z * z;
  const double first = z * (z2 + 1) / 4;
  const double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z + (first + (second + third / freedom) / freedom) / freedom;
}

// Of the variance of logit(statistic), by its jackknife over groups of units: 2 V^2 / var(V), where
// V is the sum of the groups' squared deviations. Many even groups give about their number, a few
// that decide everything about twice their number.
double degrees_of_freedom(const Statistic& statistic, std::span<const double> left_out) {
  std::vector<double> values;
  for (const double v : left_out)
    if (!std::isnan(v)) values.push_back(logit(v, statistic.resolution));
  const Moments m = moments(values);
  double second = 0, fourth = 0;
  for (const double v : values) {
    const double square = (v - m.mean) * (v - m.mean);
    second += square;
    fourth += square * square;
  }
  const double spread = fourth - second * second / static_cast<double>(values.size());
  const double most = static_cast<double>(values.size());
  return spread > 0 ? std::clamp(2 * second * second / spread, 3.0, std::max(most, 3.0)) : most;
}

}  // namespace

Interval interval_of(const Statistic& statistic, double point, std::vector<double> values,
                     std::span<const double> left_out, const BootstrapScheme& scheme,
                     double level) {
  Interval result;
  result.level = level;
  result.method = scheme.method + (scheme.groups > 0 ? "_logit_t" : "_logit");
  result.replicates = static_cast<int>(values.size());
  std::erase_if(values, [](double v) { return std::isnan(v); });
  result.undefined = result.replicates - static_cast<int>(values.size());
  result.low = result.high = nan;
  // Where half of the replicates are undefined the others are a biased selection.
  if (values.size() * 2 < static_cast<std::size_t>(result.replicates)) return result;

  const double upper = half_level(level);
  std::sort(values.begin(), values.end());
  if (statistic.rate && values.front() == values.back() && values.front() == point &&
      (point == 0 || point == 1)) {
    const Interval w = wilson(point == 1 ? scheme.units : 0, scheme.units, level);
    result.low = w.low;
    result.high = w.high;
    result.method = scheme.degenerate_method;
    return result;
  }
  if (!statistic.rate) {
    const double half = normal_quantile(upper) * moments(values).sd;
    result.method = scheme.method;
    result.low = rounded_bound(point - half);
    result.high = rounded_bound(point + half);
    return result;
  }
  if (values.front() < 0 || values.back() > 1 || point < 0 || point > 1) {
    result.method = scheme.method + "_percentile";
    result.low = rounded_bound(quantile(values, 1 - upper));
    result.high = rounded_bound(quantile(values, upper));
    return result;
  }
  for (double& v : values) v = logit(v, statistic.resolution);
  const double factor = scheme.groups > 0
                            ? student_quantile(upper, degrees_of_freedom(statistic, left_out))
                            : normal_quantile(upper);
  const double half = factor * moments(values).sd;
  const double centre = logit(point, statistic.resolution);
  // A value of 0 or 1 stays inside its own interval.
  result.low = std::min(rounded_bound(logistic(centre - half)), point);
  result.high = std::max(rounded_bound(logistic(centre + half)), point);
  return result;
}

}  // namespace facebench
