#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

#include "facebench/core/options.h"

namespace facebench {

struct ArcFaceOptions {
  double s = 64;
  double m = 0.5;
  std::string past_pi = "linear";
  std::string gradient = "exact";
  std::string init = "xavier";
  static void describe(OptionsBuilder<ArcFaceOptions>& o);
};

// cos(theta + m) from cos(theta), of any shape: c cos m - sin(theta) sin m, with sin(theta) held
// away from zero (1 - c^2 >= 1e-6; 1e-12 in float64), where its gradient counts as zero.
//   past_pi: what stands where theta + m > pi, since cos(theta + m) would rise again there:
//     "linear" c - m sin m (the ArcFace authors' MXNet code), "wrap" cos(theta + m) all the same
//     (insightface's torch code), "easy" no margin anywhere but where c > 0 (easy margin).
//   gradient: "exact", or "constant": the margin is a constant to the gradient, d/dc = 1 (what
//     insightface's torch code computes).
at::Tensor arcface_margin(const at::Tensor& cosine, const ArcFaceOptions& options);

// The same with a margin of its own for each cosine (of its shape, may have a gradient), exact
// gradient.
at::Tensor arcface_margin(const at::Tensor& cosine, const at::Tensor& margin,
                          std::string_view past_pi);

}  // namespace facebench
