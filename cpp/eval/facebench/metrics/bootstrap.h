#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
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
  static void describe(OptionsBuilder<BootstrapOptions>& o);
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
  // Each identity twice or not at all, with even odds, in opposed pairs of replicates: whoever
  // counts in one does not in the other. Weights of comparisons are products as above. Half of the
  // difference of a pair holds what people do to a value, half of the sum what single pairs of
  // people do, which products of weights count once too often: the variance is that of the one
  // less that of the other, and at least a third of their sum, which is what it would be if
  // comparisons that share a person were independent. For any list and for dense comparisons; folds
  // are not used. Sources: Owen & Eckles, "Bootstrapping data arrays of arbitrary order", Annals of
  // Applied Statistics 2012 (the draws); Aronow, Samii & Assenova, "Cluster-robust variance
  // estimation for dyadic data", Political Analysis 2015 (the variance).
  dyadic,
};
// Components where some fold has more than one; where people connect everything there is nothing to
// draw again but the people themselves. What the interval method "components" does.
Resampling resampling_for(const ComparisonGraph& graph);

// The statistics in every replicate: what intervals and paired comparisons are made of.
struct Replicates {
  std::string method;             // "component_bootstrap", "vertex_bootstrap", "dyadic_bootstrap"
  std::string degenerate_method;  // where all replicates give the same 0 or 1
  std::int64_t units = 0;         // what was resampled: components or people
  bool of_people = true;
  // Of each statistic the trials behind it: the people (or components) that its rate counts, or the
  // comparisons where they are fewer.
  std::vector<std::int64_t> trials;
  // The people (or components) that would say as much if they shared the statistic's comparisons
  // evenly (Kish's effective number).
  std::vector<double> effective;
  bool opposed = false;                     // replicates 2 p and 2 p + 1 are an opposed pair
  std::vector<double> points;               // on the comparisons themselves
  std::vector<std::vector<double>> values;  // of each statistic, `replicates` numbers, NaN possible
  // Student's degrees of freedom of the spread of each statistic; empty: the normal distribution.
  std::vector<double> freedom;
  // The statistics without each of some 200 groups of units; empty without a jackknife.
  std::vector<std::vector<double>> left_out;
  // Efron's acceleration of each statistic: a sixth of the skewness of what single people do to it.
  std::vector<double> acceleration;

  // The same of statistic s alone.
  Replicates only(std::size_t s) const;
  // kNotOfFewPeople or kNotOfFewWhoCarry where few people are behind statistic s, or empty.
  std::string note_of_people(std::size_t s) const;
};

// The interval of statistic s of the replicates; see Bootstrap::intervals(). Bounds are NaN where
// the point is, or where most of the replicates are undefined.
Interval interval_of(const Replicates& replicates, std::size_t s, const Statistic& statistic,
                     double level);

// The one-sided upper bound of statistic s at `level`, of a rate: logit(value) + q sd(logit), where
// q = w / (1 - a w)^2, w = a + the normal quantile, and a is the acceleration. An interval that is
// symmetric is too short on the side of large error rates: where by chance few people are there
// whom others look like, rate and sd are small together. Where all replicates give 0 or 1: Wilson's
// as for intervals. Of a statistic that is not a rate, and without a jackknife, the upper end of
// interval_of() at 2 level - 1. Sources: Efron, "Better bootstrap confidence intervals", JASA 1987
// (a); DiCiccio & Efron, "Bootstrap confidence intervals", Statistical Science 1996, Eq. 4.6 (q).
double upper_bound_of(const Replicates& replicates, std::size_t s, const Statistic& statistic,
                      double level);

// A way to draw data again. The draws depend on the seed and on how many there are to draw, of
// Resampling::dyadic on the seed and the identity's number alone: two systems on the same
// comparisons see the same people in each replicate. All results are the same bits for any number
// of threads.
class Bootstrap {
 public:
  // Weights are of the comparisons. Throws std::invalid_argument where there is nothing to
  // resample: every fold is one component, or there are fewer than two identities.
  Bootstrap(const ComparisonGraph& graph, Resampling resampling);
  // Weights are of the identities themselves: weight i says how often the person of number
  // people[i] (ascending) was drawn. By vertices or dyadic. For an undefined statistic the bounds
  // are NaN.
  static Bootstrap of_people(std::vector<std::int32_t> people,
                             Resampling resampling = Resampling::dyadic);
  // The same where each replicate is a curve of these comparisons; sixteen are taken at once.
  static Bootstrap of_people(std::shared_ptr<const ManyComparisons> comparisons,
                             Resampling resampling = Resampling::dyadic);

  // One interval for each statistic, all from the same replicates. Throws std::invalid_argument
  // where a statistic is undefined on the comparisons themselves.
  //
  // logit(value) -+ t * sd(logit(replicates)), transformed back. Student's t, because near 0 and 1
  // a value rests on few people, so the sd itself is uncertain; its degrees of freedom come from
  // the fourth moment of a jackknife over 200 groups of components or people (docs/metrics.md has
  // the coverage). The normal distribution for vertices. A statistic that is not a rate is taken as
  // it is, without logit. Of a 0 or 1 the bootstrap knows too little: the interval is then Wilson's
  // with the components or identities that the rate counts as trials, or the comparisons where they
  // are fewer (method "wilson_over_components", "wilson_over_identities"); fewer trials where the
  // replicates differ by more than half an error would. Where one error separates a value from
  // them, the side towards them reaches as far as the exact interval of Clopper and Pearson (1934);
  // a rate of both classes (EER) within three errors is no shorter than Wilson's of its trials. Of
  // a graded statistic with no more than three errors' worth (p^2 (1 - p) / V from the nearer end),
  // or where a replicate reaches 0 or 1, the interval is at least t * sd(replicates) / (p (1 - p))
  // long on the logit scale and ends where Wilson's of that share of the trials does (method
  // "..._within_wilson"). For a statistic that calls itself a rate and leaves [0, 1], components
  // and vertices give percentiles (method "..._percentile"). Interval::note says where the level is
  // not what it seems.
  std::vector<Interval> intervals(std::span<const Statistic> statistics,
                                  const BootstrapOptions& options = {}, const Job& job = {}) const;
  Replicates replicates(std::span<const Statistic> statistics, const BootstrapOptions& options = {},
                        const Job& job = {}) const;
  // With `freedom`: what interval_of() takes.
  Replicates replicates_with_freedom(std::span<const Statistic> statistics,
                                     const BootstrapOptions& options = {},
                                     const Job& job = {}) const;
  // Whether the other draws the same things again.
  bool same_draws(const Bootstrap& other) const;

 private:
  explicit Bootstrap(BootstrapScheme scheme);
  std::shared_ptr<const BootstrapScheme> scheme_;
};

}  // namespace facebench
