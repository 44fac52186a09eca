#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "facebench/analysis/trial_pairs.h"
#include "facebench/core/job.h"
#include "facebench/metrics/paired.h"

namespace facebench {

// One number of a track: a metric, with labels where it is an entry of a matrix.
struct NumberKey {
  std::string metric, row, column;
  auto operator<=>(const NumberKey&) const = default;
};
// A number as one value, or as the entries of its matrix, row by row.
std::vector<std::pair<NumberKey, double>> keyed_values(const Number& number);

// The differences of a track's numbers, and why those that are absent are.
struct TrackComparison {
  std::map<NumberKey, PairedComparison> numbers;
  std::map<std::string, std::string> refused;  // by the name of a metric: why it has none
  std::string why_none;                        // the reason that holds for every number

  // Why a number is absent.
  std::string why_not(const NumberKey& key) const;
};

// The differences a - b of a track's numbers, both runs measured by the rules of `how` on the same
// resampled people: on the comparisons (searches, subjects) that both hold and neither left out.
// Numbers that the rules cannot compute are absent; so is everything where there is nothing to draw
// again, or where the runs do not hold the same and are not lists.
TrackComparison compare_track(const RunScores& a, const RunScores& b, const TrackPairs& pairs,
                              const ProtocolSpec& metrics, const EvaluationOptions& how,
                              const BootstrapOptions& options, const Job& job);

// A track's numbers for each of several runs that hold the same comparisons, each by its own rules,
// in the same draws of people (Resampling::dyadic): on what no run leaves out. A Replicates holds
// one statistic. Throws std::invalid_argument for a track that a run does not have, and where there
// is nothing to draw again.
std::vector<std::map<NumberKey, Replicates>> draw_track(std::span<const RunScores> runs,
                                                        const std::string& track,
                                                        const ProtocolSpec& metrics,
                                                        const BootstrapOptions& options,
                                                        const Job& job);

}  // namespace facebench
