#pragma once

#include <span>
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
  // value -+ z * sd of the replicates' differences; both systems are measured on the same
  // replicates, so what is hard for both cancels.
  Interval interval;
  // Two-sided, of the hypothesis that the systems do not differ, by the same normal approximation:
  // below 1 - level exactly where the interval leaves out 0. 1 where the two never differ.
  double p_value = 1;
};

// Pairs of statistics (a[k], b[k]) of two systems on the same comparisons, each with its own way to
// draw them again (the same object where the weights are of comparisons). Throws as Bootstrap does,
// and std::invalid_argument where the numbers of statistics or what is drawn differ.
std::vector<PairedComparison> compare_paired(
    const Bootstrap& bootstrap_a, std::span<const Statistic> a, const Bootstrap& bootstrap_b,
    std::span<const Statistic> b, const BootstrapOptions& options = {}, const Job& job = {});
// Pairs of statistics (their numbers) that were measured on the same replicates.
std::vector<PairedComparison> compare_paired(
    const Replicates& replicates, std::span<const std::pair<std::size_t, std::size_t>> pairs,
    double level = 0.95);

}  // namespace facebench
