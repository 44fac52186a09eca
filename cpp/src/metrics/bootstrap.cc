#include "facebench/metrics/bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/core/random.h"
#include "facebench/metrics/many_comparisons.h"
#include "metrics/bootstrap_scheme.h"
#include "metrics/comparison_graphs.h"
#include "metrics/measures.h"

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
        std::vector<Weight>& own = scratch[static_cast<std::size_t>(worker)];
        own.resize(weights);
        fill(i, own);
        evaluate(statistics, own, [&](std::size_t s, double value) {
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
  for (const Statistic& s : statistics)
    if (s.of_curve) far_needed = std::max(far_needed, s.far_needed);
  Values values(statistics.size(), std::vector<double>(replicates));
  parallel_for(
      static_cast<std::int64_t>((replicates + lanes - 1) / lanes), job,
      [&](std::int64_t batch, int) {
        const std::size_t first = static_cast<std::size_t>(batch) * lanes;
        const std::size_t own = std::min(lanes, replicates - first);
        std::vector<Weight> weights(n * lanes, 0);
        std::vector<std::vector<Weight>> drawn(own, std::vector<Weight>(n));
        for (std::size_t lane = 0; lane < own; ++lane) {
          fill(static_cast<std::int64_t>(first + lane), drawn[lane]);
          for (std::size_t i = 0; i < n; ++i) weights[i * lanes + lane] = drawn[lane][i];
        }
        const auto curves = comparisons.curves(weights, own, far_needed);
        for (std::size_t s = 0; s < statistics.size(); ++s)
          for (std::size_t lane = 0; lane < own; ++lane)
            values[s][first + lane] = statistics[s].of_curve
                                          ? statistics[s].of_curve(curves[lane])
                                          : statistics[s].of_weights(drawn[lane]);
      },
      stage);
  return values;
}

BootstrapScheme component_scheme(const ComparisonGraph& graph) {
  auto components = std::make_shared<const Components>(connected_components(graph));
  std::vector<std::vector<std::int32_t>> by_fold;
  for (std::int32_t c = 0; c < components->count(); ++c) {
    by_fold.resize(std::max<std::size_t>(by_fold.size(), components->fold[c] + 1));
    by_fold[components->fold[c]].push_back(c);
  }
  if (components->count() == static_cast<int>(by_fold.size()))
    throw std::invalid_argument(
        "every fold's comparisons are one connected component, so there is nothing to resample; "
        "use the vertex bootstrap");
  BootstrapScheme scheme{"component_bootstrap", "wilson_over_components", components->count(),
                         graph.first.size(), nullptr};
  scheme.resample = [components, by_fold](std::int64_t seed, std::int64_t replicate,
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

BootstrapScheme vertex_scheme(std::int64_t identities) {
  if (identities < 2)
    throw std::invalid_argument("the vertex bootstrap needs at least two identities");
  return {"vertex_bootstrap", "wilson_over_identities", identities,
          static_cast<std::size_t>(identities), draw_identities};
}

BootstrapScheme graph_scheme(const ComparisonGraph& graph, Resampling resampling) {
  if (resampling == Resampling::components) return component_scheme(graph);
  check_graph(graph);
  std::vector<std::int32_t> identities(graph.first.begin(), graph.first.end());
  identities.insert(identities.end(), graph.second.begin(), graph.second.end());
  sort_unique(identities);
  std::vector<std::int32_t> first(graph.first.size()), second(graph.first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = position(identities, graph.first[i]);
    second[i] = position(identities, graph.second[i]);
  }
  const bool vertices = resampling == Resampling::vertices;
  BootstrapScheme scheme = vertex_scheme(static_cast<std::int64_t>(identities.size()));
  if (!vertices) scheme.method = "double_or_nothing_bootstrap";
  scheme.weights = first.size();
  scheme.resample = [first, second, vertices, method = scheme.method, count = identities.size()](
                        std::int64_t seed, std::int64_t replicate, std::span<Weight> weights) {
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

}  // namespace

void draw_identities(std::int64_t seed, std::int64_t replicate, std::span<Weight> drawn) {
  Random random(static_cast<std::uint64_t>(seed), "vertex_bootstrap",
                {static_cast<std::uint64_t>(replicate)});
  std::ranges::fill(drawn, Weight{0});
  for (std::size_t d = 0; d < drawn.size(); ++d) ++drawn[random.below(drawn.size())];
}

Resampling resampling_for(const ComparisonGraph& graph) {
  const Components components = connected_components(graph);
  const std::int32_t folds = *std::ranges::max_element(components.fold) + 1;
  return components.count() > folds ? Resampling::components : Resampling::vertices;
}

Bootstrap::Bootstrap(BootstrapScheme scheme)
    : scheme_(std::make_shared<const BootstrapScheme>(std::move(scheme))) {}

Bootstrap::Bootstrap(const ComparisonGraph& graph, Resampling resampling)
    : Bootstrap(graph_scheme(graph, resampling)) {}

Bootstrap Bootstrap::of_identities(std::int64_t identities) {
  BootstrapScheme scheme = vertex_scheme(identities);
  scheme.may_be_undefined = true;
  return Bootstrap(std::move(scheme));
}

Bootstrap Bootstrap::of_identities(std::shared_ptr<const ManyComparisons> comparisons) {
  BootstrapScheme scheme = vertex_scheme(comparisons->identities());
  scheme.may_be_undefined = true;
  scheme.many = std::move(comparisons);
  return Bootstrap(std::move(scheme));
}

Replicates Bootstrap::replicates(std::span<const Statistic> statistics,
                                 const BootstrapOptions& options, const Job& job) const {
  check_options(options);
  Replicates r;
  r.method = scheme_->method;
  r.points.resize(statistics.size());
  const std::vector<Weight> once(scheme_->weights, 1);
  evaluate(statistics, once, [&](std::size_t s, double value) {
    r.points[s] = value;
    if (std::isnan(value) && !scheme_->may_be_undefined)
      throw std::invalid_argument(
          fmt::format("statistic '{}' is undefined on these comparisons", statistics[s].name));
  });
  const Fill fill = [&](std::int64_t replicate, std::span<Weight> weights) {
    scheme_->resample(options.seed, replicate, weights);
  };
  Stage stage(job, scheme_->method, options.replicates, "replicates");
  r.values =
      scheme_->many
          ? evaluate_curves(*scheme_->many, statistics, options.replicates, fill, job, &stage)
          : evaluate_all(scheme_->weights, statistics, options.replicates, fill, job, &stage);
  return r;
}

std::vector<Interval> Bootstrap::intervals(std::span<const Statistic> statistics,
                                           const BootstrapOptions& options, const Job& job) const {
  Replicates r = replicates(statistics, options, job);
  Values left_out(statistics.size());
  if (scheme_->groups > 0)
    left_out = evaluate_all(scheme_->weights, statistics, scheme_->groups, scheme_->leave_out, job,
                            nullptr);
  std::vector<Interval> result;
  for (std::size_t s = 0; s < statistics.size(); ++s)
    result.push_back(std::isnan(r.points[s])
                         ? Interval{nan, nan, options.level,
                                    scheme_->method + (statistics[s].rate ? "_logit" : "")}
                         : interval_of(statistics[s], r.points[s], std::move(r.values[s]),
                                       left_out[s], *scheme_, options.level));
  return result;
}

bool Bootstrap::same_draws(const Bootstrap& other) const {
  const BootstrapScheme &a = *scheme_, &b = *other.scheme_;
  if (a.method != b.method || a.units != b.units || a.weights != b.weights || !a.many != !b.many)
    return false;
  return !a.many ||
         (a.many->genuine() == b.many->genuine() && a.many->impostor() == b.many->impostor());
}

}  // namespace facebench
