#include "facebench/analysis/trial_pairs.h"

#include <algorithm>
#include <unordered_map>

#include "facebench/core/nfc.h"
#include "facebench/trials/listed_trials.h"

namespace facebench {
std::vector<std::int32_t> units_in(const TrialSet& a, const TrialSet& b) {
  std::unordered_map<std::string, std::int32_t> known;
  for (std::size_t u = 0; u < b.units(); ++u)
    known.emplace(nfc(b.unit_name(static_cast<std::int32_t>(u))), static_cast<std::int32_t>(u));
  std::vector<std::int32_t> result;
  for (std::size_t u = 0; u < a.units(); ++u) {
    const auto found = known.find(nfc(a.unit_name(static_cast<std::int32_t>(u))));
    result.push_back(found == known.end() ? -1 : found->second);
  }
  return result;
}

namespace {

TrackPairs pair_tracks(const RunScores& a, const RunScores& b, std::size_t ta, std::size_t tb,
                       const std::vector<std::int32_t>& rename) {
  const Trials &x = *a.trials.tracks[ta].trials, &y = *b.trials.tracks[tb].trials;
  TrackPairs p;
  p.track = a.trials.tracks[ta].name;
  p.a = ta;
  p.b = tb;
  const TrialSize left = x.size(a.trials), right = y.size(b.trials);
  p.same = x.same_as(y, rename) && left.genuine == right.genuine;
  if (p.same) {
    p.common = left.comparisons;
    p.same_scores = a.scores[ta].differences(b.scores[tb]).different == 0;
    return p;
  }
  if (x.list() && y.list()) p.shared = x.list()->shared_with(*y.list(), rename);
  p.common = static_cast<std::int64_t>(p.shared.size());
  p.only_a = left.comparisons - p.common;
  p.only_b = right.comparisons - p.common;
  return p;
}

}  // namespace

std::vector<TrackPairs> track_pairs(const RunScores& a, const RunScores& b) {
  const std::vector<std::int32_t> rename = units_in(a.trials, b.trials);
  std::vector<TrackPairs> result;
  for (std::size_t i = 0; i < a.trials.tracks.size(); ++i)
    for (std::size_t j = 0; j < b.trials.tracks.size(); ++j)
      if (a.trials.tracks[i].name == b.trials.tracks[j].name)
        result.push_back(pair_tracks(a, b, i, j, rename));
  return result;
}

}  // namespace facebench
