#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "facebench/runs/run_folder.h"

namespace facebench {

// A track that both runs have. Units are the same where their names are.
struct TrackPairs {
  std::string track;
  std::size_t a = 0, b = 0;  // numbers of the track in either run
  // Same kind and shape, and at each place the same comparison with the same label and fold.
  bool same = false;
  bool same_scores = false;  // and the same scores to the bit
  std::int64_t common = 0, only_a = 0, only_b = 0;
  // The comparisons that both have, where they are not the same: of lists alone, other kinds have
  // none here. A comparison with another label or fold is another one. Numbers in either run.
  std::vector<std::pair<std::int64_t, std::int64_t>> shared;
};

// For each unit of `a` the unit of `b` with its name, or -1.
std::vector<std::int32_t> units_in(const TrialSet& a, const TrialSet& b);

std::vector<TrackPairs> track_pairs(const RunScores& a, const RunScores& b);

}  // namespace facebench
