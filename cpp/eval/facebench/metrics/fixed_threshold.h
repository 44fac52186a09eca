#pragma once

#include <cstdint>
#include <span>

#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/interval.h"
#include "facebench/metrics/statistic.h"

namespace facebench {

// Error rates at a threshold that was not chosen on these comparisons: what a deployed system does.
struct FixedThreshold {
  double threshold = 0;  // accept score >= threshold
  double fmr = 0;        // NaN where there is no impostor comparison
  double fnmr = 0;       // NaN where there is no genuine comparison
  std::int64_t false_matches = 0;
  std::int64_t false_non_matches = 0;
  std::int64_t genuine = 0;
  std::int64_t impostor = 0;
  // Wilson's, method "wilson_fixed_threshold": right for a fixed threshold and comparisons that
  // share no people; too short where they do (then bootstrap fmr_statistic, fnmr_statistic).
  Interval fmr_interval;
  Interval fnmr_interval;
};
// Throws std::invalid_argument for a NaN threshold and a level outside (0, 1).
FixedThreshold rates_at(const Comparisons& comparisons, double threshold, double level = 0.95);

// For the bootstrap: the rates at a fixed threshold.
Statistic fmr_statistic(std::shared_ptr<const Comparisons> comparisons, double threshold);
Statistic fnmr_statistic(std::shared_ptr<const Comparisons> comparisons, double threshold);

}  // namespace facebench
