#pragma once

#include <map>
#include <string>

#include "facebench/core/job.h"
#include "facebench/metrics/paired.h"
#include "facebench/reports/trial_pairs.h"

namespace facebench {

// One number of a track: a metric, with labels where it is an entry of a matrix.
struct NumberKey {
  std::string metric, row, column;
  auto operator<=>(const NumberKey&) const = default;
};

// The differences a - b of a track's numbers, both runs measured by the rules of `how` on the same
// resampled people: on the comparisons (searches, subjects) that both hold and neither left out.
// Numbers that the rules cannot compute are absent; so is everything where there is nothing to draw
// again, or where the runs do not hold the same and are no lists.
std::map<NumberKey, PairedComparison> compare_track(
    const RunScores& a, const RunScores& b, const TrackPairs& pairs, const ProtocolSpec& metrics,
    const EvaluationOptions& how, const BootstrapOptions& options, const Job& job);

}  // namespace facebench
