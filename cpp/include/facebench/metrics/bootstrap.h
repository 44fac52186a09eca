#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options.h"
#include "facebench/metrics/comparison_graph.h"
#include "facebench/metrics/interval.h"
#include "facebench/metrics/statistic.h"

namespace facebench {

struct BootstrapOptions {
  std::int64_t replicates = 1000;
  double level = 0.95;
  std::int64_t seed = 0;
  static void describe(OptionsBuilder<BootstrapOptions>& o) {
    o.name("BootstrapOptions", "How an interval is bootstrapped.");
    o.field("replicates", &BootstrapOptions::replicates, "resampled data sets", 20, 10'000'000);
    o.field("level", &BootstrapOptions::level, "confidence level of the interval", 0.5, 0.9999);
    o.field("seed", &BootstrapOptions::seed, "seed of the resampling", 0, 9e15);
  }
};

// What a replicate draws again.
enum class Resampling {
  // Within each fold as many connected components as it has, with replacement; a comparison counts
  // as often as its component was drawn. For sparse lists.
  components,
  // As many identities as there are, with replacement; identity i is drawn w_i times; a comparison
  // of i with itself counts w_i times and one of i with j w_i * w_j times. For dense comparisons.
  vertices,
  // Each identity twice or not at all, with even odds; comparisons as above. For dense comparisons;
  // no identity is compared with its own copies more than twice.
  double_or_nothing,
};

// The statistics in every replicate: what intervals and paired comparisons are made of.
struct Replicates {
  std::string method;  // "component_bootstrap", "vertex_bootstrap", "double_or_nothing_bootstrap"
  std::vector<double> points;               // on the comparisons themselves
  std::vector<std::vector<double>> values;  // of each statistic, `replicates` numbers, NaN possible
};
// Throws std::invalid_argument where a statistic is undefined on the comparisons themselves, and as
// the bootstraps below. The same bits for any number of threads.
Replicates bootstrap_replicates(const ComparisonGraph& graph, Resampling resampling,
                                std::span<const Statistic> statistics,
                                const BootstrapOptions& options = {}, const Job& job = {});

// For sparse lists (LFW and its kin): Resampling::components. The interval is logit(value) -+ t *
// sd(logit(replicates)), transformed back, with Student's t: near 0 and 1 a value rests on few
// components, so the sd itself is uncertain; its degrees of freedom come from the fourth moment of
// a jackknife over 200 groups of components (docs/metrics.md has the coverage). A statistic that
// leaves [0, 1] gets the percentile interval (method "component_bootstrap_percentile"). Throws
// std::invalid_argument where every fold is one component (nothing to resample: such comparisons
// are dense, use vertex_bootstrap).
//
// One interval for each statistic, all from the same replicates. The same bits for any number of
// threads. Where all replicates give the same 0 or 1 the bootstrap knows nothing: the interval is
// then Wilson's with the components as trials (method "wilson_over_components").
std::vector<Interval> component_bootstrap(const ComparisonGraph& graph,
                                          std::span<const Statistic> statistics,
                                          const BootstrapOptions& options = {},
                                          const Job& job = {});
Interval component_bootstrap(const ComparisonGraph& graph, const Statistic& statistic,
                             const BootstrapOptions& options = {}, const Job& job = {});

// For dense comparisons (all pairs, quality sets): Resampling::vertices. Folds are not used. The
// interval is normal on the logit scale: logit(value) -+ z * sd(logit(replicates)), transformed
// back. Source: Snijders & Borgatti, "Non-parametric standard errors and tests for network
// statistics", Connections 1999. Degenerate case as above ("wilson_over_identities").
std::vector<Interval> vertex_bootstrap(const ComparisonGraph& graph,
                                       std::span<const Statistic> statistics,
                                       const BootstrapOptions& options = {}, const Job& job = {});
Interval vertex_bootstrap(const ComparisonGraph& graph, const Statistic& statistic,
                          const BootstrapOptions& options = {}, const Job& job = {});

// The same with Resampling::double_or_nothing (Owen & Eckles, "Bootstrapping data arrays of
// arbitrary order", Annals of Applied Statistics 2012; for face recognition: Fogliato, Patil &
// Perona 2024).
std::vector<Interval> double_or_nothing_bootstrap(const ComparisonGraph& graph,
                                                  std::span<const Statistic> statistics,
                                                  const BootstrapOptions& options = {},
                                                  const Job& job = {});
Interval double_or_nothing_bootstrap(const ComparisonGraph& graph, const Statistic& statistic,
                                     const BootstrapOptions& options = {}, const Job& job = {});

// The same where the statistics' weights are not of comparisons but of the `identities` themselves:
// weight i says how often identity i was drawn. For an undefined statistic the bounds are NaN. A
// statistic that is no rate gets the normal interval value -+ z * sd(replicates), method
// "vertex_bootstrap".
std::vector<Interval> identity_bootstrap(std::int64_t identities,
                                         std::span<const Statistic> statistics,
                                         const BootstrapOptions& options = {}, const Job& job = {});

}  // namespace facebench
