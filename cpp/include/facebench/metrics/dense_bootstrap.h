#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/dense_comparisons.h"
#include "facebench/metrics/paired.h"

namespace facebench {

// A number computed from the reduced curve of a replicate.
struct DenseStatistic {
  std::string name;
  // `weights` are those of the curve, one an identity.
  std::function<double(const RocCurve&, std::span<const Weight> weights)> evaluate;
  double resolution = 0;  // as Statistic
  double far_needed = 1;  // the curve may end above this FPR
  bool rate = true;       // as Statistic
};
DenseStatistic dense_auc_statistic(const DenseComparisons& comparisons);
DenseStatistic dense_eer_statistic(const DenseComparisons& comparisons);
DenseStatistic dense_tar_at_far_statistic(const DenseComparisons& comparisons, double far);
// The threshold of DenseComparisons::tar_at_far(); its interval is not on the logit scale. It goes
// through the highest impostor scores once more for each replicate.
DenseStatistic dense_threshold_statistic(std::shared_ptr<const DenseComparisons> comparisons,
                                         double far);

// vertex_bootstrap() of metrics/interval.h, the same draws and so the same intervals to the last
// bits of rounding, fast enough for tens of millions of comparisons.
// Throws std::invalid_argument for fewer than two identities.
std::vector<Interval> vertex_bootstrap(const DenseComparisons& comparisons,
                                       std::span<const DenseStatistic> statistics,
                                       const BootstrapOptions& options = {}, const Job& job = {});

// compare_paired() of metrics/paired.h for two systems on the same dense comparisons. Throws
// std::invalid_argument where the comparisons or the numbers of statistics differ.
std::vector<PairedComparison> compare_paired(const DenseComparisons& a, const DenseComparisons& b,
                                             std::span<const DenseStatistic> statistics_a,
                                             std::span<const DenseStatistic> statistics_b,
                                             const BootstrapOptions& options = {},
                                             const Job& job = {});

}  // namespace facebench
