#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "facebench/metrics/summary.h"
#include "facebench/reports/save.h"

namespace facebench {

// What is plotted of a track; what its kind does not have is empty.
struct TrackCurves {
  std::string track;
  std::vector<RocPoint> roc;  // also the DET: (FAR, 1 - TAR)
  ScoreHistogram scores;
};
// Out of scores.h5; comparisons that the run dropped are not in it.
std::vector<TrackCurves> track_curves(const RunScores& scores, std::size_t count = 500,
                                      int bins = 60);

}  // namespace facebench
