#pragma once

#include <span>

#include "facebench/metrics/tar_at_far.h"

// The rules of tar_at_far_conventions() that other projects publish for scores without folds.
// The value is NaN where a rule is undefined. What follows from the counts (see tar_at_far) is
// filled in by the caller.
namespace facebench {

TarAtFar ijb_tar_at_far(const RocCurve& curve, double far);
TarAtFar pfe_tar_at_far(const RocCurve& curve, double far);
TarAtFar cvlface_tar_at_far(const RocCurve& curve, double far);
TarAtFar ijb_1n_tar_at_far(const RocCurve& curve, double far);
TarAtFar bob_tar_at_far(const RocCurve& curve, double far);
TarAtFar openbr_tar_at_far(const RocCurve& curve, double far);
TarAtFar fare_tar_at_far(const RocCurve& curve, double far);
TarAtFar insightface_gui_tar_at_far(const RocCurve& curve, double far);

}  // namespace facebench
