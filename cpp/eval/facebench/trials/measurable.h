#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "facebench/metrics/bootstrap.h"
#include "facebench/trials/conventions.h"
#include "facebench/trials/scores.h"
#include "facebench/trials/trials.h"

namespace facebench {

class Comparisons;
class ScoreSet;
class Searches;
class SimilarityMatrix;

// The trials of a track with their scores, as they are to be measured.
struct ScoredTrack {
  const TrialSet& set;
  const Scores& scores;
  std::string where;                   // for messages: "protocol lfw, track view2"
  std::vector<std::uint8_t> left_out;  // per unit of the set: 1 = its comparisons do not count
  const IntervalMethod* intervals = nullptr;  // null = there are to be none
  bool searches = false;  // whether rows of dense trials are to be searched in the columns, too
};

// What a metric is a number of.
enum class MetricData : std::uint8_t { scores, matrix, searches };
inline constexpr MetricData kAllData[] = {MetricData::scores, MetricData::matrix,
                                          MetricData::searches};

// What the scores of a track can be measured as; null where they cannot.
struct Measurable {
  std::shared_ptr<const ScoreSet> scores;   // genuine and impostor ones: they have a ROC
  std::shared_ptr<const Comparisons> list;  // the same one by one; not of very many without folds
  std::shared_ptr<const ScoreTail> tail;    // where only the highest were kept
  std::shared_ptr<const SimilarityMatrix> matrix;
  std::shared_ptr<const Searches> searches;
  // How the people of scores or matrix are drawn again, and those of searches. Null: no intervals,
  // or nobody else to draw.
  std::function<Bootstrap()> bootstrap, search_bootstrap;

  bool has(MetricData data) const;
  const std::function<Bootstrap()>& bootstrap_of(MetricData data) const {
    return data == MetricData::searches ? search_bootstrap : bootstrap;
  }
};

// The comparisons with their scores one by one, in order, without those that are left out. What
// plots and Python's arrays are made of.
using ScoredVisitor = std::function<void(double score, bool genuine)>;
void visit_scores(const Trials& trials, const ScoredTrack& scored, const ScoredVisitor& visit);

}  // namespace facebench
