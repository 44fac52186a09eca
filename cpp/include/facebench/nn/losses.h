#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "facebench/core/options.h"

namespace facebench {

// The arithmetic of the classification losses, apart from the parameters that a Head (nn/head.h)
// owns. Everywhere: features (N, D), weight (C, D) one row for each class, labels (N) int64 in
// [0, C). Margins are computed in float32 (float64 where an input is float64), whatever the type of
// the features. Equation numbers without a paper's name are those of Wang & Guo 2019; two of them
// are printed with slips, and what is implemented is what their sources define:
//   Eq. 1 (softmax) and Eq. 2 (center) lack the logarithm, and Eq. 1 has W_j for W_{y_i};
//   Eq. 5 (ArcFace) prints s (cos(theta) + m) for s cos(theta + m).

struct SoftmaxOptions {
  bool bias = true;
  std::string init = "linear";
  static void describe(OptionsBuilder<SoftmaxOptions>& o);
};

struct CenterOptions {
  double weight = 0.003;
  double alpha = 0.5;
  std::string update = "paper";
  bool bias = true;
  std::string init = "linear";
  static void describe(OptionsBuilder<CenterOptions>& o);
};

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

struct CosFaceOptions {
  double s = 64;
  double m = 0.35;
  std::string init = "xavier";
  static void describe(OptionsBuilder<CosFaceOptions>& o);
};

struct ArcFaceOptions {
  double s = 64;
  double m = 0.5;
  std::string past_pi = "linear";
  std::string gradient = "exact";
  std::string init = "xavier";
  static void describe(OptionsBuilder<ArcFaceOptions>& o);
};

// Rows of `x` divided by their Euclidean norms. A norm below 1e-6 counts as 1e-6, so that value and
// gradient stay finite at a zero row.
at::Tensor normalize_rows(const at::Tensor& x);

// SphereFace's psi(theta) = (-1)^k cos(m theta) - 2k for theta in [k pi/m, (k+1) pi/m], from
// cos(theta) of any shape; k is a constant to the gradient. cos(m theta) is the Chebyshev
// polynomial T_m, so the gradient is finite at cos = +-1. Requires 1 <= m.
// Source: Liu et al., "SphereFace", CVPR 2017, Eq. 6.
at::Tensor sphereface_psi(const at::Tensor& cosine, int m);

// Its derivative, (-1)^k m U_{m-1}(cos theta) with the Chebyshev polynomial of the second kind.
at::Tensor sphereface_psi_slope(const at::Tensor& cosine, int m);

// The true class's logits and the others, (N, C), with the values of A-Softmax mixed by lambda and
// with the gradients that the authors' Caffe layer computes, which are not theirs: with G the
// gradient of the logits, the weights get G^T x, as if neither they were normalised nor psi there;
// the features get G w, and for the true class ((cw w + cx x) / |(cw, cx)| + lambda w) /
// (1 + lambda) in place of w, where cw w + cx x is the gradient of |x| psi(theta).
// features (N, D); weight (C, D) as the optimizer holds it, rows of any length.
// Source: Liu et al., margin_inner_product_layer.cpp.
at::Tensor sphereface_caffe_logits(const at::Tensor& features, const at::Tensor& weight,
                                   const at::Tensor& labels, int m, double lambda);

// lambda of SphereFace's annealing, max(lambda_min, lambda_base (1 + gamma it)^-power), at the
// it-th call (the first is 1, as in the authors' Caffe layer).
double sphereface_lambda(const SphereFaceOptions& options, std::int64_t iteration);

// cos(theta + m) from cos(theta), of any shape: c cos m - sin(theta) sin m, with sin(theta) held
// away from zero (1 - c^2 >= 1e-6; 1e-12 in float64), where its gradient counts as zero.
//   past_pi: what stands where theta + m > pi, since cos(theta + m) would rise again there:
//     "linear" c - m sin m (the ArcFace authors' MXNet code), "wrap" cos(theta + m) all the same
//     (insightface's torch code), "easy" no margin anywhere but where c > 0 (easy margin).
//   gradient: "exact", or "constant": the margin is a constant to the gradient, d/dc = 1 (what
//     insightface's torch code computes).
// Source: Deng et al., "ArcFace", CVPR 2019, Eq. 3.
at::Tensor arcface_margin(const at::Tensor& cosine, const ArcFaceOptions& options);

// 1/(2N) sum |x_i - c_{y_i}|^2, a scalar; centers (C, D) are constants to the gradient.
// Source: Wen et al., "A discriminative feature learning approach", ECCV 2016, Eq. 2, divided by
// the number of images as in the authors' Caffe layer.
at::Tensor center_distance(const at::Tensor& features, const at::Tensor& labels,
                           const at::Tensor& centers);

// Moves the centres towards their class's features: c_j -= alpha sum_i (c_j - x_i) / (1 + n_j) over
// the n_j images of class j in the batch. In place, without gradient. Source: as above, Eq. 4.
void update_centers(at::Tensor& centers, const at::Tensor& features, const at::Tensor& labels,
                    double alpha);

// What the authors' Caffe layer hands its solver as the gradient of the centres (C, D), in place of
// their own update: sum_i (c_j - x_i) / (1 + n_j), neither divided by the batch nor multiplied by
// the loss's weight. The solver's rate, momentum and decay then move them.
at::Tensor center_gradient(const at::Tensor& centers, const at::Tensor& features,
                           const at::Tensor& labels);

// facenet's way: the mean over images and dimensions of (x - c)^2, without the half, and
// c_j -= alpha sum_i (c_j - x_i), so that a class with more images moves further (its option alfa
// is 1 - alpha). Source: facenet.py, center_loss.
at::Tensor facenet_center_distance(const at::Tensor& features, const at::Tensor& labels,
                                   const at::Tensor& centers);
void facenet_update_centers(at::Tensor& centers, const at::Tensor& features,
                            const at::Tensor& labels, double alpha);

}  // namespace facebench
