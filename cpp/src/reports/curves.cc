#include "facebench/reports/curves.h"

namespace facebench {
namespace {

struct Labelled {
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
};

Labelled labelled(const RunScores& s, std::size_t t) {
  const bool drop = failure_policies().at(s.options.failed_enrolments).drop;
  const Track& track = s.trials.tracks[t];
  Labelled out;
  for (std::size_t k = 0; k < track.comparisons.size(); ++k) {
    const auto [a, b] = track.comparisons[k];
    const bool failed = s.status[static_cast<std::size_t>(a)] != SampleStatus::ok ||
                        s.status[static_cast<std::size_t>(b)] != SampleStatus::ok;
    if (drop && failed) continue;
    out.scores.push_back(s.scores[t][k]);
    out.labels.push_back(track.genuine[k]);
  }
  return out;
}

}  // namespace

std::vector<TrackCurves> track_curves(const RunScores& s, std::size_t count, int bins) {
  std::vector<TrackCurves> curves;
  for (std::size_t t = 0; t < s.trials.tracks.size(); ++t) {
    const Labelled data = labelled(s, t);
    curves.push_back({s.trials.tracks[t].name, roc_points(s, s.trials.tracks[t].name, count),
                      histogram(data.scores, data.labels, bins)});
  }
  return curves;
}

}  // namespace facebench
