#include "facebench/metrics/bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/core/random.h"
#include "metrics/bootstrap.h"
#include "metrics/comparison_graphs.h"
#include "metrics/measures.h"

namespace facebench {
namespace {

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

Replicates replicate(std::size_t comparisons, const BootstrapScheme& scheme,
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

std::vector<Interval> bootstrap(std::size_t comparisons, const BootstrapScheme& scheme,
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

// The schemes keep what they need of the graph.
BootstrapScheme component_scheme(const ComparisonGraph& graph, const BootstrapOptions& options) {
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
  BootstrapScheme scheme{
      "component_bootstrap", "wilson_over_components", components->count(), {}, 0, {}};
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

BootstrapScheme identity_scheme(const ComparisonGraph& graph, Resampling resampling,
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
  BootstrapScheme scheme{vertices ? "vertex_bootstrap" : "double_or_nothing_bootstrap",
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

BootstrapScheme make_scheme(const ComparisonGraph& graph, Resampling resampling,
                            const BootstrapOptions& options) {
  return resampling == Resampling::components ? component_scheme(graph, options)
                                              : identity_scheme(graph, resampling, options);
}

}  // namespace

void draw_identities(std::int64_t seed, std::int64_t replicate, std::span<Weight> drawn) {
  Random random(static_cast<std::uint64_t>(seed), "vertex_bootstrap",
                {static_cast<std::uint64_t>(replicate)});
  std::ranges::fill(drawn, Weight{0});
  for (std::size_t d = 0; d < drawn.size(); ++d) ++drawn[random.below(drawn.size())];
}

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
  BootstrapScheme scheme = vertex_scheme(identities);
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
