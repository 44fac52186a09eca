#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options.h"
#include "facebench/metrics/comparison_graph.h"
#include "facebench/metrics/interval.h"
#include "facebench/metrics/statistic.h"

namespace facebench {

class ManyComparisons;
struct BootstrapScheme;

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

// What a replicate resamples.
enum class Resampling {
  // Within each fold as many connected components as it has, with replacement; a comparison counts
  // as often as its component was drawn. For sparse lists (LFW and its kin).
  components,
  // As many identities as there are, with replacement; identity i is drawn w_i times; a comparison
  // of i with itself counts w_i times and one of i with j w_i * w_j times. For dense comparisons
  // (all pairs, quality sets). Folds are not used. Source: Snijders & Borgatti, "Non-parametric
  // standard errors and tests for network statistics", Connections 1999.
  vertices,
  // Each identity twice or not at all, with even odds; comparisons as above. For dense comparisons;
  // no identity is compared with its own copies more than twice. Source: Owen & Eckles,
  // "Bootstrapping data arrays of arbitrary order", Annals of Applied Statistics 2012; for face
  // recognition: Fogliato, Patil & Perona 2024.
  double_or_nothing,
};
// Components where some fold has more than one; where people connect everything there is nothing to
// draw again but the people themselves.
Resampling resampling_for(const ComparisonGraph& graph);

// The statistics in every replicate: what intervals and paired comparisons are made of.
struct Replicates {
  std::string method;  // "component_bootstrap", "vertex_bootstrap", "double_or_nothing_bootstrap"
  std::vector<double> points;               // on the comparisons themselves
  std::vector<std::vector<double>> values;  // of each statistic, `replicates` numbers, NaN possible
};

// A way to draw data again. The draws depend on the seed and on how many there are to draw alone:
// two systems on the same comparisons see the same people in each replicate. All results are the
// same bits for any number of threads.
class Bootstrap {
 public:
  // Weights are of the comparisons. Throws std::invalid_argument where there is nothing to
  // resample: every fold is one component, or there are fewer than two identities.
  Bootstrap(const ComparisonGraph& graph, Resampling resampling);
  // Weights are of the identities themselves: weight i says how often identity i was drawn.
  // Resampling::vertices. For an undefined statistic the bounds are NaN.
  static Bootstrap of_identities(std::int64_t identities);
  // The same where each replicate is a curve of these comparisons; sixteen are taken at once.
  static Bootstrap of_identities(std::shared_ptr<const ManyComparisons> comparisons);

  // One interval for each statistic, all from the same replicates. Throws std::invalid_argument
  // where a statistic is undefined on the comparisons themselves.
  //
  // Of components: logit(value) -+ t * sd(logit(replicates)), transformed back, with Student's t:
  // near 0 and 1 a value rests on few components, so the sd itself is uncertain; its degrees of
  // freedom come from the fourth moment of a jackknife over 200 groups of components
  // (docs/metrics.md has the coverage). Of identities: normal on the logit scale. A statistic that
  // is no rate gets value -+ z * sd(replicates); one that leaves [0, 1] the percentile interval
  // (method "..._percentile"). Where all replicates give the same 0 or 1 the bootstrap knows
  // nothing: the interval is then Wilson's with the components or identities as trials (method
  // "wilson_over_components", "wilson_over_identities").
  std::vector<Interval> intervals(std::span<const Statistic> statistics,
                                  const BootstrapOptions& options = {}, const Job& job = {}) const;
  Replicates replicates(std::span<const Statistic> statistics, const BootstrapOptions& options = {},
                        const Job& job = {}) const;
  // Whether the other draws the same things again.
  bool same_draws(const Bootstrap& other) const;

 private:
  explicit Bootstrap(BootstrapScheme scheme);
  std::shared_ptr<const BootstrapScheme> scheme_;
};

}  // namespace facebench
