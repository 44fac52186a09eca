#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facebench/analysis/run_pairing.h"
#include "facebench/backends/logistic_fusion.h"
#include "facebench/core/job.h"
#include "facebench/evaluation/result.h"
#include "facebench/io/json.h"

namespace facebench {

// Several systems on the same comparisons as one: logistic regression of their scores.

struct FusionOptions {
  std::optional<std::string> track;
  double prior = 0.5;
  // Side information: tables whose first column names samples (or, for groups, people).
  std::filesystem::path quality;  // of each numeric column the lower and the higher of both sides
  std::filesystem::path groups;   // whether the groups of the second column differ
  bool allow_overlap = false;     // other runs that are trained on may hold people who are tested
  std::int64_t replicates = 1000;
  double level = 0.95;
  std::int64_t seed = 0;

  static void describe(OptionsBuilder<FusionOptions>& o);
};

struct FusedSystem {
  std::string name;
  // In bits; each system calibrated alone in the way of the fusion, on what that is trained on.
  double cllr = 0, min_cllr = 0;
  PairedComparison less_cllr, less_min_cllr;   // the fusion's less this one's
  std::map<NumberKey, PairedComparison> less;  // the protocol's numbers likewise
};

struct FusionReport {
  std::string protocol, track, trained_on;
  std::vector<std::string> inputs;      // what the weights are of
  std::vector<LogisticFusion> fusions;  // one a fold, or one
  double cllr = 0, min_cllr = 0;        // of the fusion
  std::vector<FusedSystem> systems;
  Result result;  // the fused scores, to be saved as a run
};

// `runs`: two or more with the same comparisons of the track, in the same order (one: its
// calibration by folds). Each fold is fused by what is fitted to the others without anyone of the
// fold; with `trained_on`, the same systems' runs of another list in the same order, all is fused
// by what is fitted to these. Throws Error for runs that do not hold the same, for runs trained on
// that hold people who are tested, and std::invalid_argument for what has no folds, and as
// fit_logistic_fusion() does.
FusionReport fuse(std::span<const std::filesystem::path> runs,
                  std::span<const std::filesystem::path> trained_on,
                  const FusionOptions& options = {}, const Job& job = {});

Json fusion_report_json(const FusionReport& report);

}  // namespace facebench
