#include "facebench/reports/curves.h"

namespace facebench {
std::vector<TrackCurves> track_curves(const RunScores& s, std::size_t count, int bins) {
  std::vector<TrackCurves> curves;
  for (std::size_t t = 0; t < s.trials.tracks.size(); ++t) {
    const LabelledScores data = labelled_scores(
        s.trials.tracks[t], s.trials, unit_status(s.trials, s.status), s.scores[t],
        failure_policies().at(s.options.failed_enrolments).drop);
    curves.push_back({s.trials.tracks[t].name, roc_points(s, s.trials.tracks[t].name, count),
                      histogram(data.scores, data.labels, bins)});
  }
  return curves;
}

}  // namespace facebench
