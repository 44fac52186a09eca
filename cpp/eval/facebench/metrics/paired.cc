#include "facebench/metrics/paired.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "facebench/metrics/internal/bootstrap_scheme.h"
#include "facebench/metrics/internal/exact_rates.h"
#include "facebench/metrics/internal/measures.h"

namespace facebench {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::vector<double> less(std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  return differences;
}

// Of a difference A - Q / 2, with A and Q of docs/metrics.md. Q holds, beside the noise of pairs of
// people, which A counts twice, the noise of thresholds that are chosen again: A - Q takes that
// away instead of adding it, and of a difference little else is left. A graded number has no
// threshold: A - Q.
double variance_of_difference(const ReplicateSpread& spread, bool graded) {
  if (graded) return spread.variance;
  return std::max(spread.variance, spread.of_people - spread.of_pairs / 2);
}

// How many groups of people move the difference. Who leaves it as it is when left out takes no
// part; of the others the pseudo-values of the jackknife are their own differences: 0 of those who
// are alike to both systems, whatever the rest is.
double moving(double difference, std::vector<double> left_out) {
  std::erase_if(left_out, [&](double v) { return !(std::abs(v - difference) > 1e-12); });
  const auto others = static_cast<double>(left_out.size()) - 1;
  for (double& v : left_out) v = std::abs(difference + others * (difference - v));
  if (left_out.empty()) return 0;
  const double least = std::ranges::max(left_out) / 10;
  return static_cast<double>(std::ranges::count_if(left_out, [&](double v) { return v > least; }));
}

// As many independent trials as two systems differ on, of which `for_a` speak for the first; each
// moves the difference by `step`.
struct Trials {
  double differing = 0, for_a = 0, step = 0;

  double value() const { return (2 * for_a - differing) * step; }
  // Of whole trials. The variance of few draws, so the number of trials, has an error of chance:
  // what speaks for the other side, be it a part of a trial, is one.
  double p_value() const {
    const double most = std::round(std::max(for_a, differing - for_a));
    const double least = std::ceil(std::min(for_a, differing - for_a) - 0.1);
    return most + least > 0 ? sign_test(std::max(most, least), most + least) : 1;
  }
  Interval interval(double level) const {
    const double all = std::max(1 / step, differing), scale = all * step;
    const Interval a = clopper_pearson(for_a, all, level);
    const Interval b = clopper_pearson(differing - for_a, all, level);
    const double share_a = for_a / all, share_b = (differing - for_a) / all;
    Interval result;
    result.low = value() - scale * std::hypot(share_a - a.low, b.high - share_b);
    result.high = value() + scale * std::hypot(a.high - share_a, share_b - b.low);
    return result;
  }
};

// 1 - the level at which an end of the interval is 0.
double p_value_of(const std::function<Interval(double)>& interval) {
  double least = 0, most = 1;
  for (int i = 0; i < 40; ++i) {
    const double p = (least + most) / 2;
    const Interval at = interval(1 - p);
    (at.low > 0 || at.high < 0 ? most : least) = p;
  }
  return most;
}

// One system's number with what its interval is made of.
struct Side {
  const Replicates& replicates;
  std::size_t s;
  const Statistic& statistic;

  double point() const { return replicates.points[s]; }
  bool near_an_end() const {
    return within_three_errors(statistic, point(),
                               spread_of(replicates.values[s], replicates.opposed).variance);
  }
  Interval interval(double level) const { return interval_of(replicates, s, statistic, level); }
};

// Of the difference, as if the two knew nothing of each other.
Interval unpaired(const Side& a, const Side& b, double level) {
  const Interval of_a = a.interval(level), of_b = b.interval(level);
  const double value = a.point() - b.point();
  Interval result;
  result.low = value - std::hypot(a.point() - of_a.low, of_b.high - b.point());
  result.high = value + std::hypot(of_a.high - a.point(), b.point() - of_b.low);
  return result;
}

// Trials that give the difference and its sd in the replicates.
Trials trials_of(double value, double sd, double differing) {
  Trials t;
  t.differing = differing;
  t.step = std::max(sd / std::sqrt(differing), std::abs(value) / differing);
  t.for_a = std::clamp((differing + value / t.step) / 2, 0.0, differing);
  return t;
}

// The interval leaves out 0 only where the p-value says so.
void keep_p_value_at_least(double least, PairedComparison& d) {
  d.p_value = std::max(d.p_value, least);
  if (d.p_value < 1 - d.interval.level) return;
  d.interval.low = std::min(d.interval.low, 0.0);
  d.interval.high = std::max(d.interval.high, 0.0);
}

// Makes the interval no shorter, and the p-value no smaller, than other bounds have them.
void widen(PairedComparison& d, const std::function<Interval(double)>& bounds, double p_value) {
  const double level = d.interval.level;
  const Interval other = bounds(level);
  d.interval.low = std::min(d.interval.low, other.low);
  d.interval.high = std::max(d.interval.high, other.high);
  if (d.interval.note.empty()) d.interval.note = kAtLeast;
  keep_p_value_at_least(std::max(p_value, p_value_of(bounds)), d);
}

// By the exact bounds of few trials.
void widen_by(const Trials& trials, PairedComparison& d) {
  widen(
      d, [&](double level) { return trials.interval(level); }, trials.p_value());
  d.interval.method += "_exact";
}

// The number s.first of the one system and s.second of the other. `trials`: how many people (or
// comparisons) the rate counts; 0 of a number that is not a rate. `graded`: see Statistic.
PairedComparison difference_of(const Replicates& one, const Replicates& other,
                               std::pair<std::size_t, std::size_t> s, std::int64_t trials,
                               bool graded, double level) {
  PairedComparison d;
  d.a = one.points.at(s.first);
  d.b = other.points.at(s.second);
  d.value = d.a - d.b;
  d.interval.level = level;
  d.interval.method = one.method + "_paired_t";
  d.interval.replicates = static_cast<int>(one.values.at(s.first).size());
  const std::vector<double> differences = less(one.values[s.first], other.values.at(s.second));
  const ReplicateSpread spread = spread_of(differences, one.opposed);
  d.interval.undefined = spread.undefined;
  const auto undefined = [&](std::string why) {
    d.interval.low = d.interval.high = d.sd = d.p_value = nan;
    d.no_interval = std::move(why);
    return d;
  };
  if (spread.values.size() * 2 < differences.size())
    return undefined("too few people: most replicates are undefined");
  d.interval.note = one.note_of_people(s.first);
  d.sd = std::sqrt(variance_of_difference(spread, graded));

  std::vector<double> left_out;
  if (!one.left_out.empty()) left_out = less(one.left_out[s.first], other.left_out[s.second]);
  d.differing = left_out.empty() ? kInfinite
                : d.sd > 0       ? moving(d.value, left_out) * spread.variance / spread.of_people
                                 : 0;
  if (d.differing == 0 || d.sd == 0) {
    if (trials == 0) return undefined("no draw of people changes the difference");
    // Nobody moves it: all that is known are the people.
    const auto people = static_cast<double>(trials);
    const double differing = std::abs(d.value) * people;
    d.differing = differing;
    d.interval.low = d.interval.high = d.value;
    d.p_value = 0;
    widen_by({differing, d.value > 0 ? differing : 0, 1 / people}, d);
  } else {
    Statistic number;
    number.rate = false;
    const double people =
        one.effective.empty() ? static_cast<double>(one.units) : one.effective[s.first];
    double freedom = people - 1;
    if (!left_out.empty()) freedom = std::min(freedom, degrees_of_freedom(number, left_out));
    freedom = std::max(freedom, 1.0);
    const double half = student_bound(half_level(level), freedom) * d.sd;
    d.interval.low = d.value - half;
    d.interval.high = d.value + half;
    d.p_value = student_p_value(d.value / d.sd, freedom);
    if (trials > 0 && d.differing < kFewDiffering) {
      // The sd is of people around the difference; signs are counted around 0.
      const double around_0 = std::hypot(d.sd, d.value / std::sqrt(static_cast<double>(trials)));
      widen_by(trials_of(d.value, around_0, d.differing), d);
    }
    // Student's t of two people may be as large as it likes: all n on one side have 2 / 2^n.
    const std::int64_t counted = one.trials.empty() ? one.units : one.trials[s.first];
    const auto most = static_cast<double>(counted);
    if (most < kFewDiffering) keep_p_value_at_least(sign_test(most, most), d);
  }
  return d;
}

// Ends the interval where a difference of rates does, and rounds.
void finish(bool rates, PairedComparison& d) {
  if (rates) {  // NaN stays
    d.interval.low = std::max(d.interval.low, -1.0);
    d.interval.high = std::min(d.interval.high, 1.0);
  }
  d.interval.low = rounded_bound(d.interval.low);
  d.interval.high = rounded_bound(d.interval.high);
  d.p_value = rounded_bound(d.p_value);
}

// A statistic of the caller's own is called a rate, and need not be one.
bool are_rates(std::span<const double> values) {
  return std::ranges::none_of(values, [](double v) { return v < 0 || v > 1; });
}

}  // namespace

PairedComparison no_paired_comparison(std::string why) {
  PairedComparison d;
  d.value = d.a = d.b = d.sd = d.p_value = d.interval.low = d.interval.high = nan;
  d.no_interval = std::move(why);
  return d;
}

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
  const Replicates left = bootstrap_a.replicates_with_freedom(a, options, job);
  const Replicates right = bootstrap_b.replicates_with_freedom(b, options, job);
  std::vector<PairedComparison> result;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const bool rates =
        a[k].rate && b[k].rate && are_rates(left.values[k]) && are_rates(right.values[k]);
    const std::int64_t trials = rates ? std::min(left.trials[k], right.trials[k]) : 0;
    PairedComparison d =
        difference_of(left, right, {k, k}, trials, a[k].graded && b[k].graded, options.level);
    const Side of_a{left, k, a[k]}, of_b{right, k, b[k]};
    if (rates && d.no_interval.empty() && of_a.near_an_end() && of_b.near_an_end())
      widen(
          d, [&](double level) { return unpaired(of_a, of_b, level); }, 0);
    finish(rates, d);
    result.push_back(std::move(d));
  }
  return result;
}

std::vector<PairedComparison> compare_paired(
    const Replicates& r, std::span<const std::pair<std::size_t, std::size_t>> pairs, double level) {
  std::vector<PairedComparison> result;
  for (const auto& pair : pairs) {
    result.push_back(difference_of(r, r, pair, 0, false, level));
    finish(false, result.back());
  }
  return result;
}

}  // namespace facebench
