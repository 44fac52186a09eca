#pragma once

#include "facebench/metrics/score_tail.h"

namespace facebench {

struct RocCurve;

// Bounds, from the histogram of a ScoreTail, of metrics that need all scores: the metric of all
// scores lies in [low, high]. The bounds are as far apart as one bin and histogram_blur make them.
struct MetricBounds {
  double low = 0;
  double high = 0;
};

// All of these throw std::invalid_argument where a class is empty or the tail has no histogram.
MetricBounds auc_bounds(const ScoreTail& tail);
MetricBounds eer_bounds(const ScoreTail& tail);

// The bounds of the TAR at a FAR. `low` is reached at `threshold`, an edge of a bin, whose FAR is
// at most `far_achieved`, itself at most `far`.
struct TarBounds {
  MetricBounds tar;
  double threshold = 0;
  double far_achieved = 0;
  std::int64_t false_accepts = 0;  // at most
  std::int64_t genuine_accepted = 0;
};
// Throws std::invalid_argument for a far outside [0, 1], too.
TarBounds tar_bounds(const ScoreTail& tail, double far);

// The ROC for plots: exact points as far as the tail reaches, then a point for each edge of a bin.
RocCurve roc(const ScoreTail& tail);

}  // namespace facebench
