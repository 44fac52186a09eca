#include "facebench/nn/normalize_rows.h"

#include "facebench/nn/internal/aten.h"

namespace facebench {

at::Tensor normalize_rows(const at::Tensor& x) {
  return x * x.square().sum(1, /*keepdim=*/true).clamp_min(1e-12).rsqrt();
}

}  // namespace facebench
