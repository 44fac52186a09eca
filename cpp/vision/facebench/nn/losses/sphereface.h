#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "facebench/core/options.h"

namespace facebench {

struct SphereFaceOptions {
  int m = 4;
  double lambda_base = 1000;
  double lambda_min = 5;
  double gamma = 0.12;
  double power = 1;
  std::string gradient = "exact";
  std::string init = "xavier";
  static void describe(OptionsBuilder<SphereFaceOptions>& o);
};

// psi(theta) = (-1)^k cos(m theta) - 2k for theta in [k pi/m, (k+1) pi/m], from cos(theta) of any
// shape; k is a constant to the gradient. cos(m theta) is the Chebyshev polynomial T_m, so the
// gradient is finite at cos = +-1. Requires 1 <= m. Source: Liu et al., Eq. 6.
at::Tensor sphereface_psi(const at::Tensor& cosine, int m);

// Its derivative, (-1)^k m U_{m-1}(cos theta) with the Chebyshev polynomial of the second kind.
at::Tensor sphereface_psi_slope(const at::Tensor& cosine, int m);

// lambda of the annealing, max(lambda_min, lambda_base (1 + gamma it)^-power), at the it-th call
// (the first is 1, as in the authors' Caffe layer).
double sphereface_lambda(const SphereFaceOptions& options, std::int64_t iteration);

}  // namespace facebench
