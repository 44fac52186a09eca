#include "facebench/reports/listed_run.h"

#include <utility>

#include "facebench/reports/internal/counted_list.h"

namespace facebench {

ListedRun listed_run(const std::filesystem::path& folder, const std::optional<std::string>& track) {
  const RunScores run = read_run_scores(folder);
  const std::size_t number = track_of(run, track);
  CountedList list = counted_list(run, number, folder);
  ListedRun result;
  result.protocol = run.spec.id;
  result.track = run.trials.tracks[number].name;
  result.scores = std::move(list.scores);
  result.labels = std::move(list.labels);
  result.folds = std::move(list.folds);
  result.first_person = list.people(run.trials, 0);
  result.second_person = list.people(run.trials, 1);
  for (const Comparison& c : list.units) {
    result.first_unit.push_back(c.first);
    result.second_unit.push_back(c.second);
  }
  return result;
}

}  // namespace facebench
