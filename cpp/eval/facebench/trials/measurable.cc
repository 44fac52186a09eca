#include "facebench/trials/measurable.h"

namespace facebench {

bool Measurable::has(MetricData data) const {
  switch (data) {
    case MetricData::scores:
      return scores != nullptr;
    case MetricData::matrix:
      return matrix != nullptr;
    case MetricData::searches:
      return searches != nullptr;
  }
  return false;
}

void visit_scores(const Trials& trials, const ScoredTrack& scored, const ScoredVisitor& visit) {
  for (std::int64_t k = 0; k < scored.scores.count(); ++k) {
    const auto compared = trials.comparison_at(k);
    if (compared && takes_part(*compared, scored.left_out))
      visit(scored.scores.at(k), trials.genuine_at(scored.set, k));
  }
}

}  // namespace facebench
