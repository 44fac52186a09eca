#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "facebench/protocols/run_folder.h"

namespace facebench {

// Writes a run folder that appears whole or not at all: run.json, scores.h5, metrics.json,
// report.md; `more` (may be empty) puts further files into the folder it is given before that one
// is renamed. Throws Error where the target exists, unless `overwrite` and it is a run folder of
// ours.
void save_run(const std::filesystem::path& target, const EvaluationResult& result,
              const RunInfo& info = {}, bool overwrite = false,
              const std::function<void(const std::filesystem::path&)>& more = {});

// A ROC curve for a plot: at most `count` of its points, ends included, spread evenly over
// log10(FAR) and over TAR. Every point is one of the exact curve.
struct RocPoint {
  double far = 0;
  double tar = 0;
};
std::vector<RocPoint> roc_points(std::span<const double> scores,
                                 std::span<const std::uint8_t> labels, std::size_t count = 500);

// The same for one track of a run, out of its scores.h5; dropped comparisons are not in it.
std::vector<RocPoint> roc_points(const RunScores& scores, std::string_view track,
                                 std::size_t count = 500);

}  // namespace facebench
