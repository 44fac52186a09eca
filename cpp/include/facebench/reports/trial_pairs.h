#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/protocols/run_folder.h"

namespace facebench {

// The same comparison in two runs: where its scores stand in either.
struct ScorePair {
  std::int64_t a = 0, b = 0;
};

// A track that both runs have. Units are the same where their names are.
struct TrackPairs {
  std::string track;
  std::size_t a = 0, b = 0;  // numbers of the track in either run
  // Same kind and shape, and at each place the same comparison with the same label and fold.
  bool same = false;
  bool same_scores = false;  // and the same scores to the bit
  std::int64_t common = 0, only_a = 0, only_b = 0;
  // The comparisons that both have, where they are not the same: of lists alone, other kinds have
  // none here. A comparison with another label or fold is another one.
  std::vector<ScorePair> shared;
};

std::vector<TrackPairs> track_pairs(const RunScores& a, const RunScores& b);

}  // namespace facebench
