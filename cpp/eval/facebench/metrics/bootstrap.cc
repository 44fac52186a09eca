#include "facebench/metrics/bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/core/options.h"
#include "facebench/metrics/internal/bootstrap_scheme.h"
#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/many_comparisons.h"

namespace facebench {
namespace {

using Fill = std::function<void(std::int64_t, std::span<Weight>)>;
using Values = std::vector<std::vector<double>>;  // of each statistic

// All statistics under one set of weights. Those of the same scores share a curve.
void evaluate(std::span<const Statistic> statistics, std::span<const Weight> weights,
              const std::function<void(std::size_t, double)>& put) {
  const ScoreSet* whose = nullptr;
  RocCurve curve;
  for (std::size_t s = 0; s < statistics.size(); ++s) {
    const Statistic& statistic = statistics[s];
    if (!statistic.of_curve) {
      put(s, statistic.of_weights(weights));
      continue;
    }
    if (statistic.scores.get() != whose) curve = statistic.scores->roc(weights);
    whose = statistic.scores.get();
    put(s, statistic.of_curve(curve));
  }
}

// All statistics under `count` sets of weights.
Values evaluate_all(std::size_t weights, std::span<const Statistic> statistics, std::int64_t count,
                    const Fill& fill, const Job& job, Stage* stage) {
  Values values(statistics.size(), std::vector<double>(static_cast<std::size_t>(count)));
  std::vector<std::vector<Weight>> scratch(static_cast<std::size_t>(job.workers()));
  parallel_for(
      count, job,
      [&](std::int64_t i, int worker) {
        std::vector<Weight>& drawn = scratch[static_cast<std::size_t>(worker)];
        drawn.resize(weights);
        fill(i, drawn);
        evaluate(statistics, drawn, [&](std::size_t s, double value) {
          values[s][static_cast<std::size_t>(i)] = value;
        });
      },
      stage);
  return values;
}

// The same with several curves at once.
Values evaluate_curves(const ManyComparisons& comparisons, std::span<const Statistic> statistics,
                       std::int64_t count, const Fill& fill, const Job& job, Stage* stage) {
  constexpr std::size_t lanes = ManyComparisons::kLanes;
  const auto n = static_cast<std::size_t>(comparisons.identities());
  const auto replicates = static_cast<std::size_t>(count);
  double far_needed = 0;
  ManyComparisons::PartsNeeded needed;
  bool whole = !comparisons.has_parts();
  for (const Statistic& s : statistics) {
    if (!s.of_curve) continue;
    far_needed = std::max(far_needed, s.far_needed);
    whole |= s.part == CurvePart::whole;
    needed.area |= s.part == CurvePart::area;
    needed.crossing |= s.part == CurvePart::crossing;
    if (s.part == CurvePart::far) needed.fars.push_back(s.far_needed);
  }
  std::ranges::sort(needed.fars);
  Values values(statistics.size(), std::vector<double>(replicates));
  parallel_for(
      static_cast<std::int64_t>((replicates + lanes - 1) / lanes), job,
      [&](std::int64_t batch, int) {
        const std::size_t first = static_cast<std::size_t>(batch) * lanes;
        const std::size_t lanes_filled = std::min(lanes, replicates - first);
        std::vector<Weight> weights(n * lanes, 0);
        std::vector<std::vector<Weight>> drawn(lanes_filled, std::vector<Weight>(n));
        for (std::size_t lane = 0; lane < lanes_filled; ++lane) {
          fill(static_cast<std::int64_t>(first + lane), drawn[lane]);
          for (std::size_t i = 0; i < n; ++i) weights[i * lanes + lane] = drawn[lane][i];
        }
        std::vector<ManyComparisons::CurveParts> parts;
        if (whole)
          for (RocCurve& curve : comparisons.curves(weights, lanes_filled, far_needed))
            parts.push_back({std::move(curve), 0});
        else
          parts = comparisons.curve_parts(weights, lanes_filled, needed);
        for (std::size_t s = 0; s < statistics.size(); ++s)
          for (std::size_t lane = 0; lane < lanes_filled; ++lane) {
            const Statistic& statistic = statistics[s];
            values[s][first + lane] = !statistic.of_curve ? statistic.of_weights(drawn[lane])
                                      : !whole && statistic.part == CurvePart::area
                                          ? parts[lane].auc
                                          : statistic.of_curve(parts[lane].points);
          }
      },
      stage);
  return values;
}

Values evaluate_draws(const BootstrapScheme& scheme, std::span<const Statistic> statistics,
                      std::int64_t count, const Fill& fill, const Job& job, Stage* stage) {
  return scheme.many ? evaluate_curves(*scheme.many, statistics, count, fill, job, stage)
                     : evaluate_all(scheme.weights, statistics, count, fill, job, stage);
}

// Whether two are TARs of the same scores.
bool same_bases(const Statistic& a, const Statistic& b) {
  const auto is_tar = [](const Statistic& s) { return s.part == CurvePart::far && s.scores; };
  return is_tar(a) && is_tar(b) && a.scores == b.scores;
}

// The trials of a rate, and the people who carry it: see Replicates.
UnitsAmong trials_of(const Statistic& statistic, const BootstrapScheme& scheme) {
  UnitsAmong trials{scheme.units, static_cast<double>(scheme.units)};
  if (!scheme.many && statistic.bases.empty()) {
    trials.effective = scheme.units_among(std::vector<std::int64_t>(scheme.weights, 1)).effective;
    trials.count = std::min(trials.count, static_cast<std::int64_t>(scheme.weights));
  }
  for (const Statistic::Base& base : statistic.bases) {
    const UnitsAmong among = scheme.units_among(base.taking_part());
    trials.count = std::min({trials.count, base.count, among.count});
    trials.effective = std::min(trials.effective, among.effective);
  }
  return trials;
}

}  // namespace

void BootstrapOptions::describe(OptionsBuilder<BootstrapOptions>& o) {
  o.name("BootstrapOptions", "How an interval is bootstrapped.");
  o.field("replicates", &BootstrapOptions::replicates, "resampled data sets", 20, 10'000'000);
  o.field("level", &BootstrapOptions::level, "confidence level of the interval", 0.5, 0.9999);
  o.field("seed", &BootstrapOptions::seed, "seed of the resampling", 0, 9e15);
}

Resampling resampling_for(const ComparisonGraph& graph) {
  const Components components = connected_components(graph);
  const std::int32_t folds = *std::ranges::max_element(components.fold) + 1;
  return components.count() > folds ? Resampling::components : Resampling::vertices;
}

Replicates Replicates::only(std::size_t s) const {
  Replicates one{method,         degenerate_method, units,       of_people,  {trials[s]},
                 {effective[s]}, opposed,           {points[s]}, {values[s]}};
  if (!left_out.empty()) one.left_out = {left_out[s]};
  if (!freedom.empty()) one.freedom = {freedom[s]};
  if (!acceleration.empty()) one.acceleration = {acceleration[s]};
  return one;
}

std::string Replicates::note_of_people(std::size_t s) const {
  if (!of_people) return "";
  if (units < kFewPeople) return kNotOfFewPeople;
  const bool uneven = !effective.empty() && 2 * effective[s] < static_cast<double>(trials[s]);
  return uneven && effective[s] < kFewPeople ? kNotOfFewWhoCarry : "";
}

Bootstrap::Bootstrap(BootstrapScheme scheme)
    : scheme_(std::make_shared<const BootstrapScheme>(std::move(scheme))) {}

Bootstrap::Bootstrap(const ComparisonGraph& graph, Resampling resampling)
    : Bootstrap(graph_scheme(graph, resampling)) {}

Bootstrap Bootstrap::of_people(std::vector<std::int32_t> people, Resampling resampling) {
  BootstrapScheme scheme = people_scheme(std::move(people), resampling);
  scheme.may_be_undefined = true;
  return Bootstrap(std::move(scheme));
}

Bootstrap Bootstrap::of_people(std::shared_ptr<const ManyComparisons> comparisons,
                               Resampling resampling) {
  BootstrapScheme scheme = people_scheme(comparisons->people(), resampling);
  scheme.may_be_undefined = true;
  scheme.many = std::move(comparisons);
  return Bootstrap(std::move(scheme));
}

Replicates Bootstrap::replicates(std::span<const Statistic> statistics,
                                 const BootstrapOptions& options, const Job& job) const {
  check_options(options);
  Replicates r;
  r.method = scheme_->method;
  r.degenerate_method = scheme_->degenerate_method;
  r.units = scheme_->units;
  r.opposed = scheme_->opposed;
  r.of_people = !scheme_->people.empty();
  r.points.resize(statistics.size());
  const std::vector<Weight> once(scheme_->weights, 1);
  evaluate(statistics, once, [&](std::size_t s, double value) {
    r.points[s] = statistics[s].known.value_or(value);
    if (std::isnan(r.points[s]) && !scheme_->may_be_undefined)
      throw std::invalid_argument(
          fmt::format("statistic '{}' is undefined on these comparisons", statistics[s].name));
  });
  UnitsAmong trials;
  for (std::size_t k = 0; k < statistics.size(); ++k) {
    // A band has a hundred TARs of the same genuine comparisons.
    if (k == 0 || !same_bases(statistics[k - 1], statistics[k]))
      trials = trials_of(statistics[k], *scheme_);
    r.trials.push_back(trials.count);
    r.effective.push_back(trials.effective);
  }
  // Of opposed pairs only whole ones.
  const std::int64_t count = r.opposed ? options.replicates / 2 * 2 : options.replicates;
  Stage stage(job, scheme_->method, count, "replicates");
  r.values = evaluate_draws(
      *scheme_, statistics, count,
      [&](std::int64_t replicate, std::span<Weight> weights) {
        scheme_->resample(options.seed, replicate, weights);
      },
      job, &stage);
  return r;
}

Replicates Bootstrap::replicates_with_freedom(std::span<const Statistic> statistics,
                                              const BootstrapOptions& options,
                                              const Job& job) const {
  Replicates r = replicates(statistics, options, job);
  if (scheme_->groups == 0) return r;
  r.left_out =
      evaluate_draws(*scheme_, statistics, scheme_->groups, scheme_->leave_out, job, nullptr);
  for (std::size_t s = 0; s < statistics.size(); ++s) {
    r.freedom.push_back(degrees_of_freedom(statistics[s], r.left_out[s]));
    r.acceleration.push_back(acceleration(r.left_out[s]));
  }
  return r;
}

std::vector<Interval> Bootstrap::intervals(std::span<const Statistic> statistics,
                                           const BootstrapOptions& options, const Job& job) const {
  const Replicates r = replicates_with_freedom(statistics, options, job);
  std::vector<Interval> result;
  for (std::size_t s = 0; s < statistics.size(); ++s)
    result.push_back(interval_of(r, s, statistics[s], options.level));
  return result;
}

bool Bootstrap::same_draws(const Bootstrap& other) const {
  const BootstrapScheme &a = *scheme_, &b = *other.scheme_;
  if (a.method != b.method || a.units != b.units || a.weights != b.weights || !a.many != !b.many ||
      (a.opposed && a.people != b.people))
    return false;
  return !a.many ||
         (a.many->genuine() == b.many->genuine() && a.many->impostor() == b.many->impostor());
}

}  // namespace facebench
