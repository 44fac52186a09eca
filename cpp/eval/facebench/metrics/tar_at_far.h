#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "facebench/core/registry.h"
#include "facebench/metrics/comparisons.h"

namespace facebench {

// True accept rate at a false accept rate, with the counts behind it.
struct TarAtFar {
  double value = 0;         // in [0, 1]
  double far_target = 0;    // what was asked for
  double far_achieved = 0;  // what the threshold gives on these comparisons
  std::int64_t false_accepts = 0;
  double expected_false_accepts = 0;  // far_target * impostor
  // expected_false_accepts >= 10. Below, the value is decided by a handful of comparisons and by
  // the convention (docs/metrics.md).
  bool reliable = false;
  double threshold = 0;  // in the score's unit; with folds the mean of the folds' thresholds
  std::int64_t genuine_accepted = 0;
  std::int64_t genuine = 0;
  std::int64_t impostor = 0;
  std::string convention;
};

// One published way to choose the threshold for a FAR.
struct TarAtFarConvention {
  std::string name;
  std::string doc;
  std::string source;
  bool needs_folds = false;
  // Scores must be cosines in [-1, 1] (the rule's grid of thresholds assumes it).
  bool cosine_only = false;
  // A rule is a function of the curve, or, where it needs folds, of the comparisons (`weights` in
  // their sorted order). Value NaN where it is undefined: an empty class, with folds an empty class
  // within a fold, or a curve that ends before the FAR.
  TarAtFar (*of_curve)(const RocCurve&, double far) = nullptr;
  TarAtFar (*of_folds)(const Comparisons&, std::span<const Weight> weights, double far) = nullptr;
  bool interpolates = false;  // between points, so that there is no threshold
};

// "exact" (the default of this project): the lowest threshold whose FAR does not exceed the target;
// ties grouped; accept score >= threshold; the threshold lies in the middle between the last
// accepted and the first rejected score. The others reproduce published scripts; see `doc` of each.
const Table<TarAtFarConvention>& tar_at_far_conventions();

// far in [0, 1]. Throws std::invalid_argument for a far outside, an unknown convention (did you
// mean), missing folds, scores that the convention cannot take or that were not all kept, and where
// the value is undefined.
TarAtFar tar_at_far(const ScoreSet& scores, double far, std::string_view convention = "exact",
                    std::span<const Weight> weights = {});

}  // namespace facebench
