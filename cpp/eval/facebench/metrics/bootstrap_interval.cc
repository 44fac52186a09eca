#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/metrics/internal/bootstrap_scheme.h"
#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/summary.h"

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

// What the spread of a statistic is measured in.
double transformed(const Statistic& statistic, double value) {
  return statistic.rate ? logit(value, statistic.resolution) : value;
}

// Wilson's bounds of a rate that is 0 or 1: of so many trials, or of as many as give half an error
// the variance of the replicates, which choose their threshold again. None where the replicates
// differ and the size of an error is not known.
bool set_bounds_of_an_end(const Replicates& r, std::size_t s, const Statistic& statistic,
                          const ReplicateSpread& spread, Interval& result) {
  const double point = r.points[s];
  if (point != 0 && point != 1) return false;
  auto trials = static_cast<double>(r.trials[s]);
  if (std::ranges::any_of(spread.values, [&](double v) { return v != point; })) {
    if (statistic.resolution == 0) return false;
    const double half = std::min(statistic.resolution / 2, 0.25);
    trials = std::min(trials, half * (1 - half) / spread.variance);
  }
  const Interval of_trials = wilson_of_share(point, trials, result.level);
  result.low = of_trials.low;
  result.high = of_trials.high;
  result.method = r.degenerate_method;
  return true;
}

// Whether the errors are worth three independent ones or fewer: p^2 (1 - p) / V.
bool few_independent_errors(double point, double variance) {
  const double p = std::min(point, 1 - point);
  return p * p * (1 - p) <= 3 * variance;
}

bool within_unit(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double v) { return v >= 0 && v <= 1; });
}

}  // namespace

bool within_three_errors(const Statistic& statistic, double point, double variance) {
  if (statistic.graded) return few_independent_errors(point, variance);
  return std::min(point, 1 - point) <= 3 * statistic.resolution * (1 + 1e-9);
}

ReplicateSpread spread_of(std::span<const double> replicates, bool opposed) {
  ReplicateSpread s;
  if (!opposed) {
    for (const double v : replicates)
      if (!std::isnan(v)) s.values.push_back(v);
    s.undefined = static_cast<int>(replicates.size() - s.values.size());
    s.variance = s.values.size() > 1 ? std::pow(moments(s.values).sd, 2) : 0;
    s.of_people = s.variance;
    return s;
  }
  std::vector<double> of_pairs;  // half of the sum
  double of_people = 0;          // half of the difference, squared; its mean is 0 by design
  for (std::size_t p = 0; p + 1 < replicates.size(); p += 2) {
    const double one = replicates[p], other = replicates[p + 1];
    if (std::isnan(one) || std::isnan(other)) {
      s.undefined += 2;
      continue;
    }
    s.values.insert(s.values.end(), {one, other});
    of_pairs.push_back((one + other) / 2);
    of_people += (one - other) * (one - other) / 4;
  }
  if (of_pairs.size() < 2) return s;
  of_people /= static_cast<double>(of_pairs.size());
  s.of_people = of_people;
  const double sd = moments(of_pairs).sd;
  s.of_pairs = sd * sd;
  s.variance = std::max(of_people - sd * sd, (of_people + sd * sd) / 3);
  return s;
}

// 2 V^2 / var(V), where V is the sum of the groups' squared deviations. Many even groups give about
// their number, a few that decide everything about twice their number.
double degrees_of_freedom(const Statistic& statistic, std::span<const double> left_out) {
  std::vector<double> values;
  for (const double v : left_out)
    if (!std::isnan(v)) values.push_back(transformed(statistic, v));
  const Moments m = moments(values);
  double second = 0, fourth = 0;
  for (const double v : values) {
    const double square = (v - m.mean) * (v - m.mean);
    second += square;
    fourth += square * square;
  }
  const double most = static_cast<double>(values.size());
  const double spread = fourth - second * second / most;
  return spread > 0 ? std::clamp(2 * second * second / spread, 3.0, std::max(most, 3.0)) : most;
}

double acceleration(std::span<const double> left_out) {
  std::vector<double> values;
  for (const double v : left_out)
    if (!std::isnan(v)) values.push_back(v);
  const double mean = moments(values).mean;
  double second = 0, third = 0;
  for (const double v : values) {
    second += (mean - v) * (mean - v);
    third += (mean - v) * (mean - v) * (mean - v);
  }
  return second > 0 ? third / (6 * std::pow(second, 1.5)) : 0;
}

double upper_bound_of(const Replicates& r, std::size_t s, const Statistic& statistic,
                      double level) {
  const Interval two_sided = interval_of(r, s, statistic, 2 * level - 1);
  if (std::isnan(two_sided.high) || r.acceleration.empty() ||
      !two_sided.method.starts_with(r.method + "_logit"))
    return two_sided.high;
  const double point = r.points[s];
  std::vector<double> values = r.values[s];
  for (double& v : values) v = std::isnan(v) ? v : transformed(statistic, v);
  const double w = r.acceleration[s] + normal_quantile(level);
  const double q = w / std::pow(1 - r.acceleration[s] * w, 2);
  const double sd = std::sqrt(spread_of(values, r.opposed).variance);
  return std::max(rounded_bound(logistic(transformed(statistic, point) + q * sd)), point);
}

// What the trials alone say of the bounds of a rate near 0 or 1; `near_an_end`: of a graded one.
void mend_bounds_by_trials(const Replicates& r, std::size_t s, const Statistic& statistic,
                           double variance, bool near_an_end, Interval& result) {
  const double point = r.points[s];
  // A single error may be one that hardly ever happens: the exact bound of one error in so many
  // comparisons (Clopper & Pearson 1934).
  if (!statistic.graded && std::min(point, 1 - point) <= 1.5 * statistic.resolution) {
    const double rare = rounded_bound(1 - std::pow(half_level(result.level), statistic.resolution));
    if (point > 0.5)
      result.high = std::max(result.high, 1 - rare);
    else
      result.low = std::min(result.low, rare);
  }
  const Interval of_trials = wilson_of_share(point, static_cast<double>(r.trials[s]), result.level);
  if (near_an_end) {
    result.method += "_within_wilson";
    if (point > 0.5)
      result.low = std::max(result.low, of_trials.low);
    else
      result.high = std::min(result.high, of_trials.high);
  } else if (!statistic.graded && (within_three_errors(statistic, point, variance) ||
                                   few_independent_errors(point, variance))) {
    // Few errors say no more than their people do. A rate of both classes (EER) is held by those of
    // the smaller one.
    result.low = std::min(result.low, of_trials.low);
    result.high = std::max(result.high, of_trials.high);
  }
}

Interval interval_of(const Replicates& r, std::size_t s, const Statistic& statistic, double level) {
  const double upper = half_level(level);
  const double point = r.points[s];
  const bool student = !r.freedom.empty();
  Interval result;
  result.level = level;
  result.low = result.high = nan;
  result.method = r.method + (statistic.rate ? "_logit" : "") +
                  (student && (statistic.rate || r.opposed) ? "_t" : "");
  if (std::isnan(point)) return result;
  ReplicateSpread spread = spread_of(r.values[s], r.opposed);
  result.replicates = static_cast<int>(r.values[s].size());
  result.undefined = spread.undefined;
  // Where half of the replicates are undefined the others are a biased selection.
  if (spread.values.size() * 2 < r.values[s].size()) return result;
  result.note = r.note_of_people(s);
  if (statistic.rate) {
    if (result.note.empty() && within_three_errors(statistic, point, spread.variance))
      result.note = kAtLeast;
    if (set_bounds_of_an_end(r, s, statistic, spread, result)) return result;
    if (!within_unit(spread.values) || point < 0 || point > 1) {
      Statistic number = statistic;
      number.rate = false;
      if (r.opposed) return interval_of(r, s, number, level);
      std::ranges::sort(spread.values);
      result.method = r.method + "_percentile";
      result.low = rounded_bound(quantile(spread.values, 1 - upper));
      result.high = rounded_bound(quantile(spread.values, upper));
      return result;
    }
  }
  std::vector<double> values = r.values[s];
  for (double& v : values) v = std::isnan(v) ? v : transformed(statistic, v);
  const double factor = student && (statistic.rate || r.opposed)
                            ? student_quantile(upper, r.freedom[s])
                            : normal_quantile(upper);
  double half = factor * std::sqrt(spread_of(values, r.opposed).variance);
  const double centre = transformed(statistic, point);
  const auto is_end = [](double v) { return v == 0 || v == 1; };
  const bool near_an_end =
      statistic.graded && (within_three_errors(statistic, point, spread.variance) ||
                           std::ranges::any_of(spread.values, is_end));
  // Replicates near 0 and 1 say little: their logits may spread without bound, or not at all.
  if (near_an_end)
    half = std::max(half, factor * std::sqrt(spread.variance) / (point * (1 - point)));
  if (!statistic.rate) {
    result.low = rounded_bound(centre - half);
    result.high = rounded_bound(centre + half);
    return result;
  }
  // A value of 0 or 1 stays inside its own interval.
  result.low = std::min(rounded_bound(logistic(centre - half)), point);
  result.high = std::max(rounded_bound(logistic(centre + half)), point);
  mend_bounds_by_trials(r, s, statistic, spread.variance, near_an_end, result);
  return result;
}

}  // namespace facebench
