#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/metrics/comparisons.h"

namespace facebench {

struct RocCurve;

// The same errors under the names of ISO/IEC 19795-1: a false match is an impostor comparison that
// is accepted (FMR = FAR), a false non-match a genuine one that is rejected (FNMR = 1 - TAR).

// The detection error trade-off curve: the points of the ROC as error rates. With
// normal_quantile() of both rates as axes, scores that are normal in both classes give a line
// (Martin et al., "The DET curve in assessment of detection task performance", 1997).
struct DetCurve {
  std::vector<double> threshold;  // accept score >= threshold; descending, first +infinity
  std::vector<double> fmr;        // rising from 0 to 1
  std::vector<double> fnmr;       // falling from 1 to 0
  std::size_t size() const { return threshold.size(); }
};
// Throws std::invalid_argument where a class is empty.
DetCurve det(const RocCurve& curve);

// tar_at_far() in these names.
struct FnmrAtFmr {
  double value = 0;  // FNMR in [0, 1]
  double fmr_target = 0;
  double fmr_achieved = 0;
  std::int64_t false_matches = 0;
  double expected_false_matches = 0;  // fmr_target * impostor
  bool reliable = false;              // expected_false_matches >= 10
  double threshold = 0;
  std::int64_t false_non_matches = 0;
  std::int64_t genuine = 0;
  std::int64_t impostor = 0;
  std::string convention;
};
// Throws as tar_at_far() does.
FnmrAtFmr fnmr_at_fmr(const Comparisons& comparisons, double fmr,
                      std::string_view convention = "exact", std::span<const Weight> weights = {});

}  // namespace facebench
