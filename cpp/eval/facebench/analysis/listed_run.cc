#include "facebench/analysis/listed_run.h"

#include "facebench/analysis/internal/counted_list.h"

namespace facebench {

ListedRun ListedRun::only(const std::function<bool(std::size_t)>& keep) const {
  ListedRun kept{.protocol = protocol, .track = track, .left_out = left_out};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!keep(i)) continue;
    kept.scores.push_back(scores[i]);
    kept.labels.push_back(labels[i]);
    if (!folds.empty()) kept.folds.push_back(folds[i]);
    for (const int side : {0, 1}) {
      kept.people[side].push_back(people[side][i]);
      kept.units[side].push_back(units[side][i]);
    }
  }
  return kept;
}

ListedRun listed_run(const std::filesystem::path& folder, const std::optional<std::string>& track) {
  const RunScores run = read_run_scores(folder);
  return counted_list(run, track_of(run, track), folder);
}

}  // namespace facebench
