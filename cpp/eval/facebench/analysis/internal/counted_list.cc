#include "facebench/analysis/internal/counted_list.h"

#include <fmt/format.h>

#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/metrics/tar_at_far.h"
#include "facebench/trials/listed_trials.h"

namespace facebench {

namespace fs = std::filesystem;

std::size_t track_of(const RunScores& run, const std::optional<std::string>& track) {
  const std::vector<Track>& tracks = run.trials.tracks;
  std::string known;
  std::vector<std::size_t> verifications;
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    if (track ? tracks[t].name == *track : tracks.size() == 1) return t;
    known += (known.empty() ? "" : ", ") + tracks[t].name;
    if (tracks[t].trials->verification()) verifications.push_back(t);
  }
  if (!track && verifications.size() == 1) return verifications.front();
  throw std::invalid_argument(track
                                  ? fmt::format("the run has no track '{}': {}", *track, known)
                                  : fmt::format("the run has several tracks; give one: {}", known));
}

std::size_t track_like(const RunScores& run, const std::string& track) {
  return run.trials.tracks.size() == 1 ? 0 : track_of(run, track);
}

ListedRun counted_list(const RunScores& run, std::size_t track, const fs::path& folder,
                       const EvaluationOptions& options) {
  const Track& t = run.trials.tracks[track];
  const Trials& trials = *t.trials;
  const Scores& scores = run.scores[track];
  if (!trials.verification())
    fail(folder.string(),
         fmt::format(
             "track '{}' is not a verification: its scores are not accepted or refused one by "
             "one",
             t.name),
         "Such reports are made of verifications");
  if (scores.count() != trials.slots())
    fail(folder.string(), fmt::format("of track '{}' only the highest scores were kept", t.name),
         fmt::format("Evaluate again with stored_scores of at least {}",
                     trials.size(run.trials).comparisons));
  const std::vector<std::uint8_t> left_out = left_out_units(options, run.trials, run.status);
  const auto counts = [&](std::int32_t unit) {
    return left_out.empty() || !left_out[static_cast<std::size_t>(unit)];
  };
  const bool folded = trials.list() && !trials.list()->fold.empty();
  ListedRun list{.protocol = run.spec.id, .track = t.name};
  for (std::int64_t k = 0; k < trials.slots(); ++k) {
    const std::optional<Comparison> compared = trials.comparison_at(k);
    if (!compared) continue;
    if (!counts(compared->first) || !counts(compared->second)) {
      ++list.left_out;
      continue;
    }
    list.scores.push_back(scores.at(k));
    list.labels.push_back(trials.genuine_at(run.trials, k));
    if (folded) list.folds.push_back(trials.list()->fold[static_cast<std::size_t>(k)]);
    for (const int side : {0, 1}) {
      const std::int32_t unit = side == 0 ? compared->first : compared->second;
      list.units[side].push_back(unit);
      list.people[side].push_back(run.trials.unit_identity(unit));
    }
  }
  return list;
}

double threshold_at(const ListedRun& list, double far) {
  return tar_at_far(Comparisons(list.scores, list.labels), far, "exact").threshold;
}

ChosenThreshold choose_threshold(const ListedRun& list, std::optional<double> threshold, double far,
                                 const fs::path& other, const std::string& track) {
  if (threshold) {
    if (!other.empty()) throw std::invalid_argument("give a threshold or another run, not both");
    return {*threshold, "It was given."};
  }
  if (other.empty())
    return {threshold_at(list, far),
            fmt::format("It gives a FAR of {} on these comparisons.", far)};
  const RunScores run = read_run_scores(other);
  return {threshold_at(counted_list(run, track_like(run, track), other), far),
          fmt::format("It gives a FAR of {} in the run {}.", far, run_name(other))};
}

void check_test_run(const fs::path& test, bool same, std::string_view what) {
  if (test.empty() == same) return;
  throw std::invalid_argument(
      same ? "a run to test on is given, and the same comparisons are asked for"
           : fmt::format("give another run to test {} on, or ask for the same comparisons", what));
}

}  // namespace facebench
