#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "facebench/backends/score_calibrator.h"
#include "facebench/core/job.h"
#include "facebench/io/json.h"
#include "facebench/metrics/interval.h"

namespace facebench {

// Scores of a run as likelihood ratios: a calibration made on it, and how good it is on another.

struct CalibrationOptions {
  std::string method = "logistic";
  std::optional<std::string> track;
  bool same = false;
  double prior = 0.5;
  std::int64_t bins = 15;
  std::int64_t replicates = 1000;
  double level = 0.95;
  std::int64_t seed = 0;

  static void describe(OptionsBuilder<CalibrationOptions>& o);
};

struct CalibrationReport {
  std::string protocol, track, tested_on;
  bool same = false;  // tested on the comparisons that it was made on
  ScoreCalibrator calibrator;
  double prior = 0.5;
  std::int64_t genuine = 0, impostor = 0;  // of the test
  std::int64_t misleading_genuine = 0;     // with a likelihood ratio below 1
  std::int64_t misleading_impostor = 0;    // above 1
  double cllr = 0, min_cllr = 0, calibration_error = 0;
  Interval cllr_interval, min_cllr_interval, calibration_error_interval;  // draw people
  // Tippett plot: the share of either class with at least this log10 likelihood ratio.
  std::vector<double> log10_lr, genuine_share, impostor_share;
};

// A calibrator made on a track of `run`, measured on that of the run `test`; with options.same, and
// `test` empty, on the same comparisons. Comparisons are those that the runs count. Throws as
// threshold_report() and fit_calibrator() do.
CalibrationReport calibration_report(const std::filesystem::path& run,
                                     const std::filesystem::path& test,
                                     const CalibrationOptions& options = {}, const Job& job = {});

Json calibration_report_json(const CalibrationReport& report);

// The file of a calibrator: {"format": "facebench calibration", "version": 1, "method", "score",
// "llr", "slope"}. Reading throws Error for anything else.
Json calibrator_json(const ScoreCalibrator& calibrator);
ScoreCalibrator read_calibrator(const std::filesystem::path& path);

}  // namespace facebench
