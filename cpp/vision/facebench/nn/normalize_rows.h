#pragma once

#include <ATen/core/Tensor.h>

namespace facebench {

// Rows of `x` (N, D) divided by their Euclidean norms. A norm below 1e-6 counts as 1e-6, so that
// value and gradient stay finite at a zero row.
at::Tensor normalize_rows(const at::Tensor& x);

}  // namespace facebench
