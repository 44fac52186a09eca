#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "facebench/core/job.h"
#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/comparisons.h"

namespace facebench {

// A threshold for a wanted FMR, with what these comparisons can promise.
struct RecommendedThreshold {
  double fmr = 0;        // what was wanted
  double threshold = 0;  // the lowest whose FMR on these comparisons is not above it
  std::int64_t false_matches = 0;
  double expected_false_matches = 0;
  bool reliable = false;  // at least ten are expected
  // The lowest threshold whose FMR is not above the wanted one by its one-sided upper bound at
  // `level`; none where even the bound without a false match is above it.
  std::optional<double> safe;
  std::int64_t safe_false_matches = 0;
  // The upper bound of the FMR without a false match; 1 where so few people bound nothing.
  double least_bound = 0;
  double level = 0;
};

// `graph`: who is behind each comparison, in the order in which `comparisons` was made. The bound
// draws people again (dyadic, upper_bound_of()); without a false match it is Wilson's with the
// people as trials.
// Throws std::invalid_argument for an FMR outside (0, 1) and where there is no impostor comparison.
RecommendedThreshold recommend_threshold(const std::shared_ptr<const Comparisons>& comparisons,
                                         const ComparisonGraph& graph, double fmr,
                                         const BootstrapOptions& options = {}, const Job& job = {});

}  // namespace facebench
