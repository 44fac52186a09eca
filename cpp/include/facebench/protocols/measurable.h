#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/score_set.h"
#include "facebench/metrics/searches.h"
#include "facebench/metrics/similarity_matrix.h"
#include "facebench/protocols/conventions.h"
#include "facebench/protocols/kept_scores.h"
#include "facebench/protocols/trials.h"

namespace facebench {

// Trials with their scores, as they are to be measured.
struct ScoredTrials {
  const TrialSet& set;
  const KeptScores& scores;
  std::string where;                   // for messages: "protocol lfw, track view2"
  std::vector<std::uint8_t> left_out;  // per unit of the set: 1 = its comparisons do not count
  const IntervalMethod* intervals = nullptr;  // null = there are to be none
  bool searches = false;  // whether rows of dense trials are to be searched in the columns, too
};

// Data, and how a bootstrap draws them again.
template <class Data>
struct Resampled {
  std::shared_ptr<const Data> data;      // null: not there
  std::function<Bootstrap()> bootstrap;  // null: no intervals, or nothing to draw again
};

// What the scores of a track can be measured as.
struct Measurable {
  Resampled<ScoreSet> scores;
  Resampled<Searches> searches;
  Resampled<SimilarityMatrix> matrix;
};

// The comparisons with their scores one by one, in order, without those that are left out. What
// plots and Python's arrays are made of.
using ScoredVisitor = std::function<void(double score, bool genuine)>;
void visit_scores(const Trials& trials, const ScoredTrials& scored, const ScoredVisitor& visit);

}  // namespace facebench
