#include "facebench/metrics/interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "facebench/core/random.h"
#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/summary.h"
#include "facebench/metrics/tar_at_far.h"
#include "metrics/bootstrap.h"
#include "metrics/measures.h"

namespace facebench {
namespace {

double half_level(double level) {
  if (!(level > 0 && level < 1))
    throw std::invalid_argument(fmt::format("level is {}; it must lie in (0, 1)", level));
  return (1 + level) / 2;
}

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

// How a bootstrap resamples and makes its intervals.
struct Scheme {
  std::string method;
  std::string degenerate_method;
  std::int64_t units = 0;  // what is resampled, in all
  std::function<void(std::int64_t replicate, std::span<Weight> weights)> resample;
  // With a jackknife (Student's t): weights of the comparisons without group g of `groups`.
  int groups = 0;
  std::function<void(std::int64_t g, std::span<Weight> weights)> leave_out;
};

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

Interval interval_of(const Statistic& statistic, double point, std::vector<double> values,
                     std::span<const double> left_out, const Scheme& scheme, double level) {
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

// All statistics under `count` sets of weights.
std::vector<std::vector<double>> evaluate_all(
    std::size_t comparisons, std::span<const Statistic> statistics, std::int64_t count,
    const std::function<void(std::int64_t, std::span<Weight>)>& fill, const Job& job,
    Stage* stage) {
  std::vector<std::vector<double>> values(statistics.size(), std::vector<double>(count));
  std::vector<std::vector<Weight>> scratch(job.workers());
  parallel_for(
      count, job,
      [&](std::int64_t i, int worker) {
        std::vector<Weight>& weights = scratch[worker];
        weights.resize(comparisons);
        fill(i, weights);
        for (std::size_t s = 0; s < statistics.size(); ++s)
          values[s][i] = statistics[s].evaluate(weights);
      },
      stage);
  return values;
}

Replicates replicate(std::size_t comparisons, const Scheme& scheme,
                     std::span<const Statistic> statistics, const BootstrapOptions& options,
                     const Job& job) {
  check_options(options);
  Replicates r;
  r.method = scheme.method;
  const std::vector<Weight> once(comparisons, 1);
  for (const Statistic& s : statistics) {
    r.points.push_back(s.evaluate(once));
    if (std::isnan(r.points.back()))
      throw std::invalid_argument(
          fmt::format("statistic '{}' is undefined on these comparisons", s.name));
  }
  Stage stage(job, scheme.method, options.replicates, "replicates");
  r.values =
      evaluate_all(comparisons, statistics, options.replicates, scheme.resample, job, &stage);
  return r;
}

std::vector<Interval> bootstrap(std::size_t comparisons, const Scheme& scheme,
                                std::span<const Statistic> statistics,
                                const BootstrapOptions& options, const Job& job) {
  Replicates r = replicate(comparisons, scheme, statistics, options, job);
  std::vector<std::vector<double>> left_out(statistics.size());
  if (scheme.groups > 0)
    left_out = evaluate_all(comparisons, statistics, scheme.groups, scheme.leave_out, job, nullptr);
  std::vector<Interval> result;
  for (std::size_t s = 0; s < statistics.size(); ++s)
    result.push_back(interval_of(statistics[s], r.points[s], std::move(r.values[s]), left_out[s],
                                 scheme, options.level));
  return result;
}

void check_graph(const ComparisonGraph& graph) {
  const std::size_t n = graph.first.size();
  if (n == 0) throw std::invalid_argument("the comparison graph is empty");
  if (graph.second.size() != n || (!graph.folds.empty() && graph.folds.size() != n))
    throw std::invalid_argument(
        fmt::format("the comparison graph has {} first and {} second identities and {} folds", n,
                    graph.second.size(), graph.folds.size()));
  for (std::size_t i = 0; i < n; ++i)
    if (graph.first[i] < 0 || graph.second[i] < 0)
      throw std::invalid_argument(fmt::format("the identity of comparison [{}] is negative", i));
}

template <class T>
void sort_unique(std::vector<T>& v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

template <class T>
std::int32_t position(const std::vector<T>& sorted, T value) {
  return static_cast<std::int32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) -
                                   sorted.begin());
}

// Of the vertex bootstrap, without what it resamples.
Scheme vertex_scheme(std::int64_t identities) {
  return {"vertex_bootstrap", "wilson_over_identities", identities, {}, 0, {}};
}

}  // namespace

void draw_identities(std::int64_t seed, std::int64_t replicate, std::span<Weight> drawn) {
  Random random(static_cast<std::uint64_t>(seed), "vertex_bootstrap",
                {static_cast<std::uint64_t>(replicate)});
  std::ranges::fill(drawn, Weight{0});
  for (std::size_t d = 0; d < drawn.size(); ++d) ++drawn[random.below(drawn.size())];
}

Interval vertex_interval(const Statistic& statistic, double point, std::vector<double> replicates,
                         std::int64_t identities, double level) {
  return interval_of(statistic, point, std::move(replicates), {}, vertex_scheme(identities), level);
}

double rounded_bound(double bound) { return std::nearbyint(bound * 0x1p40) * 0x1p-40; }

double normal_quantile(double p) {
  if (!(p > 0 && p < 1))
    throw std::invalid_argument(fmt::format("p is {}; it must lie in (0, 1)", p));
  if (p == 0.5) return 0;
  const double tail = std::min(p, 1 - p);
  // Newton's method on the upper tail, which is convex: from 0 it rises to the root and never past.
  double z = 0;
  for (int i = 0; i < 1000; ++i) {  // about z^2 / 2 steps
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double step = (std::erfc(z / std::numbers::sqrt2) / 2 - tail) / density;
    z += step;
    if (std::abs(step) <= 1e-15 * z) break;
  }
  return p < 0.5 ? -z : z;
}

Interval wilson(std::int64_t k, std::int64_t n, double level) {
  const double z = normal_quantile(half_level(level));
  if (n <= 0 || k < 0 || k > n)
    throw std::invalid_argument(fmt::format("{} successes in {} trials", k, n));
  const auto kd = static_cast<double>(k), nd = static_cast<double>(n);
  const double centre = kd + z * z / 2;
  const double half = z * std::sqrt(kd * (nd - kd) / nd + z * z / 4);
  Interval result;
  result.low = k == 0 ? 0 : rounded_bound((centre - half) / (nd + z * z));
  result.high = k == n ? 1 : rounded_bound((centre + half) / (nd + z * z));
  result.level = level;
  result.method = "wilson";
  return result;
}

Statistic auc_statistic(std::shared_ptr<const Comparisons> c) {
  const double step = 1 / (static_cast<double>(c->genuine()) * static_cast<double>(c->impostor()));
  return {"auc", [c](std::span<const Weight> w) { return measure_auc(roc(*c, w)); }, step};
}

Statistic eer_statistic(std::shared_ptr<const Comparisons> c) {
  const double step = 1 / static_cast<double>(std::min(c->genuine(), c->impostor()));
  return {"eer", [c](std::span<const Weight> w) { return measure_eer(roc(*c, w)); }, step};
}

Statistic tar_at_far_statistic(std::shared_ptr<const Comparisons> c, double far,
                               std::string_view convention) {
  tar_at_far(*c, far, convention);  // throws for wrong use, once instead of in each replicate
  const TarAtFarConvention& rule = tar_at_far_conventions().at(convention);
  return {"tar_at_far",
          [c, far, &rule](std::span<const Weight> w) {
            return rule.measure(*c, c->sorted_weights(w), far).value;
          },
          1 / static_cast<double>(c->genuine())};
}

Statistic accuracy_statistic(std::shared_ptr<const Comparisons> c, std::string_view convention) {
  accuracy(*c, convention);
  const AccuracyConvention& rule = accuracy_conventions().at(convention);
  return {"accuracy",
          [c, &rule](std::span<const Weight> w) {
            return measure_accuracy(*c, rule, c->sorted_weights(w)).value;
          },
          1 / static_cast<double>(c->size())};
}

Components connected_components(const ComparisonGraph& graph) {
  check_graph(graph);
  const std::size_t n = graph.first.size();
  // The same identity in two folds is two vertices.
  const auto vertex = [&](std::size_t i, std::int32_t identity) {
    const std::int64_t fold = graph.folds.empty() ? 0 : graph.folds[i];
    return fold * (std::int64_t{1} << 32) + identity;
  };
  std::vector<std::int64_t> vertices;
  std::vector<std::int32_t> identities;
  for (std::size_t i = 0; i < n; ++i) {
    for (const std::int32_t identity : {graph.first[i], graph.second[i]}) {
      vertices.push_back(vertex(i, identity));
      identities.push_back(identity);
    }
  }
  sort_unique(vertices);
  sort_unique(identities);

  std::vector<std::int32_t> parent(vertices.size());
  for (std::size_t v = 0; v < parent.size(); ++v) parent[v] = static_cast<std::int32_t>(v);
  const auto root = [&](std::int32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  std::vector<std::int32_t> first(n);
  for (std::size_t i = 0; i < n; ++i) {
    first[i] = position(vertices, vertex(i, graph.first[i]));
    const std::int32_t a = root(first[i]);
    const std::int32_t b = root(position(vertices, vertex(i, graph.second[i])));
    parent[std::max(a, b)] = std::min(a, b);
  }

  std::vector<std::int32_t> folds(graph.folds.begin(), graph.folds.end());
  sort_unique(folds);
  Components result;
  result.identities = static_cast<std::int64_t>(identities.size());
  result.of_comparison.resize(n);
  std::vector<std::int32_t> number(vertices.size(), -1);
  std::vector<std::int64_t> members;
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t& c = number[root(first[i])];
    if (c < 0) {
      c = result.count();
      result.fold.push_back(graph.folds.empty() ? 0 : position(folds, graph.folds[i]));
      members.push_back(0);
    }
    result.of_comparison[i] = c;
    result.largest = std::max(result.largest, ++members[c]);
  }
  return result;
}

namespace {

// The schemes keep what they need of the graph.
Scheme component_scheme(const ComparisonGraph& graph, const BootstrapOptions& options) {
  auto components = std::make_shared<const Components>(connected_components(graph));
  std::vector<std::vector<std::int32_t>> by_fold;
  for (std::int32_t c = 0; c < components->count(); ++c) {
    by_fold.resize(std::max<std::size_t>(by_fold.size(), components->fold[c] + 1));
    by_fold[components->fold[c]].push_back(c);
  }
  if (components->count() == static_cast<int>(by_fold.size()))
    throw std::invalid_argument(
        "every fold's comparisons are one connected component, so there is nothing to resample; "
        "use "
        "the vertex bootstrap");
  Scheme scheme{"component_bootstrap", "wilson_over_components", components->count(), {}, 0, {}};
  scheme.resample = [components, by_fold, seed = options.seed](std::int64_t replicate,
                                                               std::span<Weight> weights) {
    Random random(static_cast<std::uint64_t>(seed), "component_bootstrap",
                  {static_cast<std::uint64_t>(replicate)});
    std::vector<Weight> drawn(components->count(), 0);
    for (const auto& members : by_fold)
      for (std::size_t d = 0; d < members.size(); ++d)
        ++drawn[members[random.below(members.size())]];
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = drawn[components->of_comparison[i]];
  };
  scheme.groups = std::min(components->count(), 200);
  scheme.leave_out = [components, groups = scheme.groups](std::int64_t g,
                                                          std::span<Weight> weights) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = components->of_comparison[i] % groups != g;
  };
  return scheme;
}

Scheme identity_scheme(const ComparisonGraph& graph, Resampling resampling,
                       const BootstrapOptions& options) {
  check_graph(graph);
  std::vector<std::int32_t> identities(graph.first.begin(), graph.first.end());
  identities.insert(identities.end(), graph.second.begin(), graph.second.end());
  sort_unique(identities);
  if (identities.size() < 2)
    throw std::invalid_argument("the vertex bootstrap needs at least two identities");
  std::vector<std::int32_t> first(graph.first.size()), second(graph.first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = position(identities, graph.first[i]);
    second[i] = position(identities, graph.second[i]);
  }
  const bool vertices = resampling == Resampling::vertices;
  Scheme scheme{vertices ? "vertex_bootstrap" : "double_or_nothing_bootstrap",
                "wilson_over_identities",
                static_cast<std::int64_t>(identities.size()),
                {},
                0,
                {}};
  scheme.resample = [first, second, vertices, method = scheme.method, count = identities.size(),
                     seed = options.seed](std::int64_t replicate, std::span<Weight> weights) {
    std::vector<Weight> drawn(count);
    if (vertices) {
      draw_identities(seed, replicate, drawn);
    } else {
      Random random(static_cast<std::uint64_t>(seed), method,
                    {static_cast<std::uint64_t>(replicate)});
      for (Weight& w : drawn) w = 2 * (random.next_u32() >> 31);
    }
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = first[i] == second[i] ? drawn[first[i]] : drawn[first[i]] * drawn[second[i]];
  };
  return scheme;
}

Scheme make_scheme(const ComparisonGraph& graph, Resampling resampling,
                   const BootstrapOptions& options) {
  return resampling == Resampling::components ? component_scheme(graph, options)
                                              : identity_scheme(graph, resampling, options);
}

}  // namespace

Replicates bootstrap_replicates(const ComparisonGraph& graph, Resampling resampling,
                                std::span<const Statistic> statistics,
                                const BootstrapOptions& options, const Job& job) {
  return replicate(graph.first.size(), make_scheme(graph, resampling, options), statistics, options,
                   job);
}

std::vector<Interval> component_bootstrap(const ComparisonGraph& graph,
                                          std::span<const Statistic> statistics,
                                          const BootstrapOptions& options, const Job& job) {
  return bootstrap(graph.first.size(), component_scheme(graph, options), statistics, options, job);
}

std::vector<Interval> vertex_bootstrap(const ComparisonGraph& graph,
                                       std::span<const Statistic> statistics,
                                       const BootstrapOptions& options, const Job& job) {
  return bootstrap(graph.first.size(), make_scheme(graph, Resampling::vertices, options),
                   statistics, options, job);
}

std::vector<Interval> double_or_nothing_bootstrap(const ComparisonGraph& graph,
                                                  std::span<const Statistic> statistics,
                                                  const BootstrapOptions& options, const Job& job) {
  return bootstrap(graph.first.size(), make_scheme(graph, Resampling::double_or_nothing, options),
                   statistics, options, job);
}

std::vector<Interval> identity_bootstrap(std::int64_t identities,
                                         std::span<const Statistic> statistics,
                                         const BootstrapOptions& options, const Job& job) {
  if (identities < 2)
    throw std::invalid_argument("the vertex bootstrap needs at least two identities");
  const std::vector<Weight> once(static_cast<std::size_t>(identities), 1);
  std::vector<Statistic> defined;
  for (const Statistic& s : statistics)
    if (!std::isnan(s.evaluate(once))) defined.push_back(s);
  Scheme scheme = vertex_scheme(identities);
  scheme.resample = [&](std::int64_t replicate, std::span<Weight> weights) {
    draw_identities(options.seed, replicate, weights);
  };
  const auto made = bootstrap(once.size(), scheme, defined, options, job);
  std::vector<Interval> result;
  auto next = made.begin();
  for (const Statistic& s : statistics) {
    const bool is_defined = !std::isnan(s.evaluate(once));
    result.push_back(
        is_defined ? *next++
                   : Interval{nan, nan, options.level, scheme.method + (s.rate ? "_logit" : "")});
  }
  return result;
}

Interval component_bootstrap(const ComparisonGraph& graph, const Statistic& statistic,
                             const BootstrapOptions& options, const Job& job) {
  return component_bootstrap(graph, std::span(&statistic, 1), options, job).front();
}

Interval vertex_bootstrap(const ComparisonGraph& graph, const Statistic& statistic,
                          const BootstrapOptions& options, const Job& job) {
  return vertex_bootstrap(graph, std::span(&statistic, 1), options, job).front();
}

Interval double_or_nothing_bootstrap(const ComparisonGraph& graph, const Statistic& statistic,
                                     const BootstrapOptions& options, const Job& job) {
  return double_or_nothing_bootstrap(graph, std::span(&statistic, 1), options, job).front();
}

}  // namespace facebench
