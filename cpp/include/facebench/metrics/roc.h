#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/roc_curve.h"

namespace facebench {

// Comparisons of weight 0 make no point. Throws std::invalid_argument where the weights' number
// differs from the comparisons'.
RocCurve roc(const Comparisons& comparisons, std::span<const Weight> weights = {});
RocCurve roc(std::span<const double> scores, std::span<const std::uint8_t> labels);

// Area under the curve: the probability that a genuine score exceeds an impostor one, ties counted
// one half (Mann-Whitney U / (genuine * impostor)); counted in integers, one division at the end.
// This and the two below throw std::invalid_argument where there is no genuine or no impostor
// comparison.
double auc(const RocCurve& curve);
double auc(const Comparisons& comparisons, std::span<const Weight> weights = {});
double auc(std::span<const double> scores, std::span<const std::uint8_t> labels);

// Equal error rate: where the line that joins neighbouring exact points (FPR, FNR) crosses
// FPR = FNR. Where a point lies on that line it is the point itself; otherwise it is linearly
// interpolated between the last point with FPR < FNR and the first with FPR > FNR.
double eer(const RocCurve& curve);
double eer(const Comparisons& comparisons, std::span<const Weight> weights = {});
double eer(std::span<const double> scores, std::span<const std::uint8_t> labels);

// Equal error rate on the ROC's convex hull (ROCCH-EER), as in Brummer & de Villiers, "The BOSARIS
// toolkit", 2011, and bob.measure: never above eer(), and the largest minimum error over all
// priors.
double eer_convex_hull(const RocCurve& curve);
double eer_convex_hull(const Comparisons& comparisons, std::span<const Weight> weights = {});
double eer_convex_hull(std::span<const double> scores, std::span<const std::uint8_t> labels);

}  // namespace facebench
