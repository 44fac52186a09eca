#pragma once

#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/metrics/bootstrap.h"

namespace facebench {

// Two systems on the same comparisons: difference a - b of one number.
struct PairedComparison {
  double value = 0;
  double a = 0;
  double b = 0;
  // Of the replicates' differences; both systems are measured on the same replicates, so what is
  // hard for both cancels. In docs/metrics.md its square is A - Q / 2; of graded numbers A - Q.
  double sd = 0;
  // How many independent units (people, or pairs of people) the systems differ on: those whose own
  // difference, a pseudo-value of the jackknife, is more than a tenth of the largest one. Infinite
  // where the draws do not say it (vertices).
  double differing = 0;
  // value -+ t sd, Student's t with the degrees of freedom of the difference, fewer than the people
  // who carry the comparisons (Replicates::effective). Where fewer than
  // kFewDiffering units differ, no shorter than the exact bounds of as many independent trials give
  // it: those that speak for either system have Clopper and Pearson's interval each, and the two
  // make one of the difference by the square roots of Newcombe. Where no draw changes a difference
  // of rates, the people that the rate counts are the trials, so two systems without an error have
  // an interval around 0. Of two rates within three errors of 0 or 1 the interval is no shorter
  // than that of two systems that know nothing of each other, each with its own interval. NaN where
  // `no_interval` says why.
  Interval interval;
  // Two-sided, of the hypothesis that the systems do not differ: below 1 - level exactly where the
  // interval leaves out 0. Student's; where few units differ the largest of Student's, the exact
  // sign test's over these units and those at whose level the other bounds touch 0. Of fewer than
  // kFewDiffering people no smaller than the sign test's where all of them speak for one system.
  double p_value = 1;
  std::string no_interval;  // why there is none, or empty
};

// Fewer units that two systems differ on have exact bounds and the note kAtLeast.
inline constexpr double kFewDiffering = 10;

// One that says why there is no interval and p-value.
PairedComparison no_paired_comparison(std::string why);

// Pairs of statistics (a[k], b[k]) of two systems on the same comparisons, each with its own way to
// draw them again (the same object where the weights are of comparisons). Throws as Bootstrap does,
// and std::invalid_argument where the numbers of statistics or what is drawn differ.
//
// Sources: Newcombe, "Improved confidence intervals for the difference between binomial proportions
// based on paired data", Statistics in Medicine 1998 (the square roots); Clopper & Pearson,
// Biometrika 1934.
std::vector<PairedComparison> compare_paired(
    const Bootstrap& bootstrap_a, std::span<const Statistic> a, const Bootstrap& bootstrap_b,
    std::span<const Statistic> b, const BootstrapOptions& options = {}, const Job& job = {});
// Pairs of numbers of any size (not taken for rates) that were measured on the same replicates.
std::vector<PairedComparison> compare_paired(
    const Replicates& replicates, std::span<const std::pair<std::size_t, std::size_t>> pairs,
    double level = 0.95);

}  // namespace facebench
