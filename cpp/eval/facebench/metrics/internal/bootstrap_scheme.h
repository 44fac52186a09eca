#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "facebench/metrics/bootstrap.h"

namespace facebench {

// The units (people or components) that take part in some comparisons.
struct UnitsAmong {
  std::int64_t count = 0;
  // As many that share the comparisons evenly say as much: (sum w)^2 / sum w^2, w comparisons each.
  // Source: Kish, Survey Sampling, 1965.
  double effective = 0;
};

// How a bootstrap resamples and makes its intervals.
struct BootstrapScheme {
  std::string method;
  std::string degenerate_method;
  std::int64_t units = 0;   // what is resampled, in all
  std::size_t weights = 0;  // how many weights a statistic takes
  // Who takes part in comparisons, of which what each weight is of has so many.
  std::function<UnitsAmong(std::span<const std::int64_t>)> units_among;
  std::function<void(std::int64_t seed, std::int64_t replicate, std::span<Weight>)> resample;
  // Replicates 2 p and 2 p + 1 are opposed: whoever counts twice in one counts in the other not at
  // all.
  bool opposed = false;
  // With a jackknife (Student's t): weights of the comparisons without group g of `groups`.
  int groups = 0;
  std::function<void(std::int64_t g, std::span<Weight>)> leave_out = {};
  bool may_be_undefined = false;  // a statistic may be NaN on the comparisons themselves
  // Replicates are curves of these, several at once.
  std::shared_ptr<const ManyComparisons> many = {};
  std::vector<std::int32_t> people = {};  // the numbers that draws of people follow, ascending
};

// What the constructors of Bootstrap say.
BootstrapScheme graph_scheme(const ComparisonGraph& graph, Resampling resampling);
BootstrapScheme people_scheme(std::vector<std::int32_t> people, Resampling resampling);

// Replicates of one statistic without the undefined ones, and the variance that they show. Of
// opposed pairs: see Resampling::dyadic.
struct ReplicateSpread {
  std::vector<double> values;
  int undefined = 0;  // left out; of opposed pairs both
  double variance = 0;
  double of_people = 0;  // the part of it that single people show; the same without opposed pairs
  double of_pairs = 0;   // what pairs of people show: A and Q of docs/metrics.md; 0 without them
};
ReplicateSpread spread_of(std::span<const double> replicates, bool opposed);

// Whether a value lies within three errors of 0 or 1; `variance` is that of its replicates. Of a
// graded statistic errors count by how far they go.
bool within_three_errors(const Statistic& statistic, double point, double variance);

// Of the variance of a statistic, by its values without each group of units.
double degrees_of_freedom(const Statistic& statistic, std::span<const double> left_out);
// Of a statistic, by the same values; 0 where no group moves it.
double acceleration(std::span<const double> left_out);

}  // namespace facebench
