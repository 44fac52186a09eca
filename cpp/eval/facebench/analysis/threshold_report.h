#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "facebench/io/json.h"
#include "facebench/metrics/recommended_threshold.h"

namespace facebench {

// A threshold for a wanted FMR, recommended on one run and tested on another.

struct ThresholdReportOptions {
  double fmr = 0.001;
  std::optional<std::string> track;
  bool same = false;
  std::int64_t replicates = 1000;
  double level = 0.95;
  std::int64_t seed = 0;

  static void describe(OptionsBuilder<ThresholdReportOptions>& o);
};

// An error rate with the comparisons behind it.
struct CountedRate {
  std::int64_t errors = 0, comparisons = 0;
  double rate = 0;    // NaN without a comparison
  Interval interval;  // draws people
};

// What a threshold does on comparisons. ISO/IEC 19795-1 has two ways to count a sample of which no
// template could be made: FMR and FNMR are of the comparisons that were made, with the share of
// failures beside them; the generalized GFAR and GFRR are of all, and one with a failure is
// rejected. Lists of pairs do not say which side was enrolled, so failures to enrol and to acquire
// are one number.
struct TestedThreshold {
  double threshold = 0;
  CountedRate fmr, fnmr, gfar, gfrr;
};

struct ThresholdReport {
  std::string protocol, track;
  std::string tested_on;                  // the run's folder
  bool same = false;                      // tested on the comparisons that it was chosen on
  std::int64_t people = 0, impostor = 0;  // behind the recommendation
  RecommendedThreshold recommended;
  std::int64_t samples = 0, failed = 0;  // of the run that it is tested on
  TestedThreshold at_threshold;
  std::optional<TestedThreshold> at_safe;
};

// recommend_threshold() on a track of `run`, tested on that of the run `test`; with options.same,
// and `test` empty, on the same comparisons. Throws as group_report() does, std::invalid_argument
// where there is nothing to test on, or `test` is the same comparisons and options.same is not set.
ThresholdReport threshold_report(const std::filesystem::path& run,
                                 const std::filesystem::path& test,
                                 const ThresholdReportOptions& options = {}, const Job& job = {});

Json threshold_report_json(const ThresholdReport& report);

}  // namespace facebench
