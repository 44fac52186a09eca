#pragma once

#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "facebench/analysis/difference.h"
#include "facebench/core/job.h"
#include "facebench/io/json.h"
#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/paired.h"

namespace facebench {

// Why two runs must not stand in one table: what they compare, the photographs, the rules of their
// numbers, and the protocol's version. Detector, crop and model may differ: they are what is
// compared. Empty = comparable. Throws Error where a folder is not a run.
std::vector<Difference> why_not_comparable(const std::filesystem::path& a,
                                           const std::filesystem::path& b, const Job& job = {});

// Several runs by one number.
struct RunRanking {
  struct Place {
    double value = 0;  // on the comparisons that all runs hold and none leaves out
    // Share of the draws of people in which it is the best (ties share it), and the bounds of the
    // ranks in the draws, at the level asked for. NaN where `undefined` says why.
    double first = std::numeric_limits<double>::quiet_NaN();
    double rank_low = first, rank_high = first;
  };
  struct Pair {
    std::size_t a = 0, b = 0;  // numbers of runs
    PairedComparison difference;
    double adjusted_p = 1;  // Holm, over all pairs of this ranking
  };
  std::string track, metric;
  bool lower_is_better = false;
  std::string method;  // of the draws: "dyadic_bootstrap"
  std::vector<Place> places;
  std::vector<Pair> pairs;
  std::string undefined;  // why the places have no uncertainty, or empty
};

// Ranks runs of one protocol by the number `metric` of `track` ("tar@far=0.001", or a matrix's
// entry, "dprime[frontal,profile]"), each by its own rules. All runs are measured in the same draws
// of people: half of the difference of two opposed replicates (Resampling::dyadic) is what a draw
// does to every run, scaled so that the mean variance of a difference of two runs is that of their
// paired comparison. Where most draws leave the number undefined, or none tells the runs apart, the
// places have values alone and `undefined` says why. Throws std::invalid_argument for fewer than
// two runs and a number that they do not have, Error for runs that are not comparable.
RunRanking rank_runs(std::span<const std::filesystem::path> runs, const std::string& track,
                     const std::string& metric, const BootstrapOptions& options = {},
                     const Job& job = {});

// Holm's p-values: times how many are not smaller, made ascending, at most 1; NaN stays and does
// not count. Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
// Journal of Statistics 1979.
std::vector<double> holm_adjusted(std::span<const double> p_values);

Json run_ranking_json(const RunRanking& ranking);

}  // namespace facebench
