#pragma once

#include "facebench/metrics/roc_curve.h"

namespace facebench {

// Numbers of a whole curve. All throw std::invalid_argument where a class is empty and where the
// curve ends before it accepts everything.

// Area under the curve: the probability that a genuine score exceeds an impostor one, ties counted
// one half (Mann-Whitney U / (genuine * impostor)); counted in integers, one division at the end.
double auc(const RocCurve& curve);

// Equal error rate: where the line that joins neighbouring exact points (FPR, FNR) crosses
// FPR = FNR. Where a point lies on that line it is the point itself; otherwise it is linearly
// interpolated between the last point with FPR < FNR and the first with FPR > FNR.
double eer(const RocCurve& curve);

}  // namespace facebench
