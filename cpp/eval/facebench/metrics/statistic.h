#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/score_set.h"

namespace facebench {

// What of a curve a statistic looks at: all of it, the area below it, the crossing of FPR and FNR,
// or the points around a FAR.
enum class CurvePart : std::uint8_t { whole, area, crossing, far };

// A number that is computed again in each bootstrap replicate; NaN where it is undefined. It is
// called by several threads at once. It is a function either of the weights or of a curve.
struct Statistic {
  std::string name;
  std::function<double(std::span<const Weight>)> of_weights;  // in the caller's order
  // The smallest step of the value, e.g. 1/genuine for a TAR: 0 and 1 are held half a step away
  // from the ends on the logit scale.
  double resolution = 0;
  bool rate = true;  // lies in [0, 1]; else its interval is not made on the logit scale
  // The curve that `scores` have under the weights; statistics of the same scores share it.
  std::shared_ptr<const ScoreSet> scores;
  std::function<double(const RocCurve&)> of_curve;
  CurvePart part = CurvePart::whole;
  double far_needed = 1;  // the curve may end above this FAR; the FAR of CurvePart::far
  // On the comparisons themselves, where the curve is too coarse for it.
  std::optional<double> known = std::nullopt;
  // What a rate is a share of: how many comparisons (searches), and in how many of them what each
  // weight is of takes part. Of several the smallest counts. Empty: everything.
  struct Base {
    std::int64_t count = 0;
    std::function<std::vector<std::int64_t>()> taking_part;
  };
  std::vector<Base> bases = {};
  // An error counts by how far it goes: a replicate may come as near to 0 and 1 as it likes.
  bool graded = false;

  double evaluate(std::span<const Weight> weights) const;
};

// A number of the curve; NaN where a class is empty. `resolution` as above.
Statistic curve_statistic(std::string name, std::shared_ptr<const ScoreSet> scores,
                          double (*value)(const RocCurve&), double resolution);
// The genuine or the impostor comparisons, as a rate's base.
Statistic::Base base_of(std::shared_ptr<const ScoreSet> scores, bool genuine);
Statistic auc_statistic(std::shared_ptr<const ScoreSet> scores);
Statistic eer_statistic(std::shared_ptr<const ScoreSet> scores);
// The threshold is chosen again in each replicate. Throw as tar_at_far() and accuracy() do.
Statistic tar_at_far_statistic(std::shared_ptr<const ScoreSet> scores, double far,
                               std::string_view convention = "exact");
// The threshold of the convention "exact"; its interval is not on the logit scale. NaN where there
// is no genuine comparison, as the TAR is.
Statistic threshold_statistic(std::shared_ptr<const ScoreSet> scores, double far);
Statistic accuracy_statistic(std::shared_ptr<const Comparisons> comparisons,
                             std::string_view convention = "exact");

}  // namespace facebench
