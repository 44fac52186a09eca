#include "facebench/metrics/score_set.h"

namespace facebench {

RocCurve ScoreSet::roc_near(double, std::span<const Weight> weights) const { return roc(weights); }

bool ScoreSet::reaches(double) const { return true; }

}  // namespace facebench
