#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/statistic.h"

namespace facebench {

struct RocCurve;

// Cost of log-likelihood ratios, in bits: how well scores serve as evidence at any prior. 0 is
// perfect; 1 is what a system costs that always says "no evidence" (score 0); above 1 the scores
// mislead. Scores must be natural-logarithm likelihood ratios: for cosines use min_cllr().
// Cllr = 1/2 (mean over genuine of log2(1 + exp(-s)) + mean over impostor of log2(1 + exp(s))).
// Source: Brummer & du Preez, "Application-independent evaluation of speaker detection", Computer
// Speech & Language 2006. Throws std::invalid_argument where a class is empty.
double cllr(const Comparisons& comparisons, std::span<const Weight> weights = {});

// The lowest Cllr after any increasing transformation of the scores: scores of any unit are
// calibrated by the pool-adjacent-violators algorithm on these same comparisons (its blocks are the
// edges of the ROC's convex hull; equal scores lie in one block). In [0, 1]; cllr() - min_cllr() is
// the calibration loss. Source as above.
double min_cllr(const RocCurve& curve);

Statistic min_cllr_statistic(std::shared_ptr<const Comparisons> comparisons);

}  // namespace facebench
