#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "facebench/metrics/comparisons.h"

namespace facebench {

// A number computed from weighted comparisons; NaN where it is undefined. It is called by several
// threads at once.
struct Statistic {
  std::string name;
  std::function<double(std::span<const Weight>)> evaluate;  // weights in the caller's order
  // The smallest step of the value, e.g. 1/genuine for a TAR: 0 and 1 are held half a step away
  // from the ends on the logit scale.
  double resolution = 0;
  bool rate = true;  // lies in [0, 1]; else its interval is not made on the logit scale
};

Statistic auc_statistic(std::shared_ptr<const Comparisons> comparisons);
Statistic eer_statistic(std::shared_ptr<const Comparisons> comparisons);
// The threshold is chosen again in each replicate. Throw as tar_at_far() and accuracy() do.
Statistic tar_at_far_statistic(std::shared_ptr<const Comparisons> comparisons, double far,
                               std::string_view convention = "exact");
Statistic accuracy_statistic(std::shared_ptr<const Comparisons> comparisons,
                             std::string_view convention = "exact");

}  // namespace facebench
