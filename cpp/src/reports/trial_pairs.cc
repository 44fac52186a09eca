#include "facebench/reports/trial_pairs.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace facebench {
namespace {

// For each unit of `a` the unit of `b` with its name, or -1.
std::vector<std::int32_t> units_in(const TrialSet& a, const TrialSet& b) {
  std::unordered_map<std::string, std::int32_t> known;
  for (std::size_t u = 0; u < b.units(); ++u)
    known.emplace(b.unit_name(static_cast<std::int32_t>(u)), static_cast<std::int32_t>(u));
  std::vector<std::int32_t> result;
  for (std::size_t u = 0; u < a.units(); ++u) {
    const auto found = known.find(a.unit_name(static_cast<std::int32_t>(u)));
    result.push_back(found == known.end() ? -1 : found->second);
  }
  return result;
}

std::int32_t fold_at(const Track& track, std::int64_t k) {
  const auto* listed = std::get_if<ListedTrials>(&track.trials);
  return listed && !listed->fold.empty() ? listed->fold[static_cast<std::size_t>(k)] : -1;
}

// One comparison as numbers of B's units; first < 0 where it is none, or B has no such unit.
struct Key {
  std::int32_t first = -1, second = -1, fold = -1;
  bool genuine = false;
  auto operator<=>(const Key&) const = default;
};

class Side {
 public:
  Side(const TrialSet& set, const Track& track, const std::vector<std::int32_t>* rename)
      : set_(set), track_(track), kind_(kind_of(track)), rename_(rename) {}

  Key at(std::int64_t k) const {
    const auto sides = kind_.sides(track_, k);
    if (!sides) return {};
    const auto name = [&](std::int32_t unit) {
      return rename_ ? (*rename_)[static_cast<std::size_t>(unit)] : unit;
    };
    return {name(sides->first), name(sides->second), fold_at(track_, k),
            kind_.genuine(track_, set_, k)};
  }
  bool compared(std::int64_t k) const { return kind_.sides(track_, k).has_value(); }

 private:
  const TrialSet& set_;
  const Track& track_;
  const TrackKind& kind_;
  const std::vector<std::int32_t>* rename_;
};

// Tracks whose scores are not kept one by one: the same comparisons or not, nothing between.
TrackPairs pair_tails(const RunScores& a, const RunScores& b, TrackPairs p,
                      const std::vector<std::int32_t>& rename) {
  const auto &x = a.trials.tracks[p.a].trials, &y = b.trials.tracks[p.b].trials;
  const auto same_units = [&](const std::vector<std::int32_t>& left,
                              const std::vector<std::int32_t>& right) {
    return std::ranges::equal(left, right, {},
                              [&](std::int32_t u) { return rename[static_cast<std::size_t>(u)]; });
  };
  if (const auto* pairs = std::get_if<AllPairsTrials>(&x)) {
    const auto& others = std::get<AllPairsTrials>(y);
    p.same = same_units(pairs->rows, others.rows) && same_units(pairs->columns, others.columns) &&
             pairs->triangle == others.triangle;
  } else {
    const auto& searches = std::get<IdentificationTrials>(x);
    const auto& others = std::get<IdentificationTrials>(y);
    p.same =
        same_units(searches.probes, others.probes) && same_units(searches.gallery, others.gallery);
  }
  const TrackSize left = track_size(a.trials.tracks[p.a], a.trials);
  const TrackSize right = track_size(b.trials.tracks[p.b], b.trials);
  p.same = p.same && left.genuine == right.genuine;
  (p.same ? p.common : p.only_a) = left.comparisons;
  if (!p.same) p.only_b = right.comparisons;
  p.same_scores = p.same && a.scores[p.a] == b.scores[p.b];
  return p;
}

TrackPairs pair_tracks(const RunScores& a, const RunScores& b, std::size_t ta, std::size_t tb,
                       const std::vector<std::int32_t>& rename) {
  const Track &x = a.trials.tracks[ta], &y = b.trials.tracks[tb];
  TrackPairs p;
  p.track = x.name;
  p.a = ta;
  p.b = tb;
  if (x.trials.index() == y.trials.index() && !keeps_scores(a.scores[ta]) &&
      !keeps_scores(b.scores[tb]))
    return pair_tails(a, b, p, rename);
  const Side left(a.trials, x, &rename), right(b.trials, y, nullptr);
  const std::int64_t n = score_count(a.scores[ta]), m = score_count(b.scores[tb]);
  p.same =
      x.trials.index() == y.trials.index() && n == m && kind_of(x).shape(x) == kind_of(y).shape(y);
  p.same_scores = p.same;
  std::int64_t compared = 0;
  for (std::int64_t k = 0; p.same && k < n; ++k) {
    const bool there = left.compared(k);
    compared += there;
    p.same = there == right.compared(k) && left.at(k) == right.at(k);
    p.same_scores &= score_at(a.scores[ta], k) == score_at(b.scores[tb], k);
  }
  if (p.same) {
    p.common = compared;
    return p;
  }
  p.same_scores = false;
  const bool lists = std::holds_alternative<ListedTrials>(x.trials) &&
                     std::holds_alternative<ListedTrials>(y.trials);
  std::map<Key, std::int64_t> where;
  for (std::int64_t k = 0; k < m; ++k) {
    if (!right.compared(k)) continue;
    ++p.only_b;
    if (lists) where.emplace(right.at(k), k);
  }
  for (std::int64_t k = 0; k < n; ++k) {
    if (!left.compared(k)) continue;
    ++p.only_a;
    const auto found = where.find(left.at(k));
    if (found == where.end()) continue;
    p.shared.push_back({k, found->second});
    ++p.common;
    --p.only_a;
    --p.only_b;
  }
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
