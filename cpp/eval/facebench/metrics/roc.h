#pragma once

#include <cstddef>
#include <vector>

#include "facebench/metrics/roc_curve.h"

namespace facebench {

// Numbers of a whole curve, and the same curve as errors. auc() and eer() throw
// std::invalid_argument where a class is empty and where the curve ends before it accepts
// everything.

// Area under the curve: the probability that a genuine score exceeds an impostor one, ties counted
// one half (Mann-Whitney U / (genuine * impostor)); counted in integers, one division at the end.
double auc(const RocCurve& curve);

// Equal error rate: where the line that joins neighbouring exact points (FPR, FNR) crosses
// FPR = FNR. Where a point lies on that line it is the point itself; otherwise it is linearly
// interpolated between the last point with FPR < FNR and the first with FPR > FNR.
double eer(const RocCurve& curve);

// The same errors under the names of ISO/IEC 19795-1: a false match is an impostor comparison that
// is accepted (FMR = FAR), a false non-match a genuine one that is rejected (FNMR = 1 - TAR).

// The detection error trade-off curve: the points of the ROC as error rates. With
// normal_quantile() of both rates as axes, scores that are normal in both classes give a line
// (Martin et al., "The DET curve in assessment of detection task performance", 1997).
struct DetCurve {
  std::vector<double> threshold;  // accept score >= threshold; descending, first +infinity
  std::vector<double> fmr;        // rising from 0 to 1
  std::vector<double> fnmr;       // falling from 1 to 0
  std::size_t size() const { return threshold.size(); }
};
// Throws std::invalid_argument where a class is empty.
DetCurve det(const RocCurve& curve);

}  // namespace facebench
