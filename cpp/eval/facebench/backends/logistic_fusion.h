#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/core/matrix.h"

namespace facebench {

// Several scores of a comparison, and what else is known of it, as one natural-logarithm likelihood
// ratio: offset + sum of weight (x - mean) / sd. An input that is always the same has sd 0, and no
// weight.
struct LogisticFusion {
  std::vector<double> mean, sd, weight;  // one an input
  double offset = 0;

  double apply(std::span<const double> inputs) const;
};

// Logistic regression, genuine comparisons weighted to the share `prior`; at 1/2 it has the lowest
// Cllr. `inputs` (N, K). Newton's method with halved steps, by Cholesky's LDL'. Source: Brummer et
// al., "Fusion of heterogeneous speaker recognition systems", IEEE TASLP 2007. Throws
// std::invalid_argument for a prior outside (0, 1), an empty class, a number that is not finite,
// and where a plane separates the classes, so that no weights are best.
LogisticFusion fit_logistic_fusion(const MatrixRef<double>& inputs,
                                   std::span<const std::uint8_t> genuine, double prior = 0.5);

}  // namespace facebench
