#include "facebench/protocols/measurable.h"

#include "protocols/trial_parts.h"

namespace facebench {

void visit_scores(const Trials& trials, const ScoredTrials& scored, const ScoredVisitor& visit) {
  for (std::int64_t k = 0; k < score_count(scored.scores); ++k) {
    const auto compared = trials.comparison_at(k);
    if (compared && takes_part(*compared, scored.left_out))
      visit(score_at(scored.scores, k), trials.genuine_at(scored.set, k));
  }
}

}  // namespace facebench
