#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "facebench/io/json.h"
#include "facebench/metrics/vertex_model.h"

namespace facebench {

// What a run can show, and how many people and pairs it takes to show more.

struct PlanOptions {
  double fmr = 1e-4;
  double difference = 0.005;
  double likeness = 0;
  double far = 0.001;
  double level = 0.95;
  double power = 0.8;
  std::optional<std::string> track;

  static void describe(OptionsBuilder<PlanOptions>& o);
};

struct PlanReport {
  std::string protocol, track;
  PlanOptions options;
  double threshold = 0;              // that of options.far
  double correlation_threshold = 0;  // lower, so that enough errors show how people correlate
  VertexModel impostor, genuine;     // rate: at the threshold; correlation: at the other one
  double bound = 0;                  // of the FMR, without a false match
  double smallest_difference = 0;    // of FNMR
  double impostor_needed = 0;        // independent impostor comparisons that bound options.fmr
  double people_all_pairs = 0;       // of whom every two are compared, for that
  double people_disjoint = 0;        // each in one impostor pair alone, for that
  double genuine_needed = 0;         // comparisons like the run's, for options.difference
  double people_genuine = 0;         // with as many of them each as in the run
};

// From the vertex model of a run's errors. FMR is bounded by comparisons without a false match;
// differences are of the FNMR of two systems on the same comparisons. Throws as group_report()
// does, and Error where the run has no genuine or no impostor comparison.
PlanReport plan_report(const std::filesystem::path& run, const PlanOptions& options = {});

Json plan_report_json(const PlanReport& report);

}  // namespace facebench
