#include "facebench/nn/losses.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace facebench {
namespace {

const std::vector<std::string> init_names{"linear", "xavier", "xavier_normal", "xavier_caffe",
                                          "normal"};
constexpr const char* init_doc =
    "initial weights: linear U(+-1/sqrt(D)), xavier U(+-sqrt(6/(D+C))), xavier_normal N(0, "
    "sqrt(2/(D+C))), xavier_caffe U(+-sqrt(3/D)), normal N(0, 0.01)";

// How many of the angles j pi/m, 0 < j < m, lie below theta, without gradient. The cosine falls
// with the angle.
at::Tensor sphereface_interval(const at::Tensor& cosine, int m) {
  if (m < 1) throw std::invalid_argument("sphereface: m must be at least 1");
  at::Tensor k = at::zeros_like(cosine);
  for (int j = 1; j < m; ++j) k += cosine.detach().le(std::cos(j * std::numbers::pi / m));
  return k;
}

at::Tensor alternating_sign(const at::Tensor& k) { return 1 - 2 * k.remainder(2); }

// c_{y_i} - x_i.
at::Tensor from_centers(const at::Tensor& centers, const at::Tensor& features,
                        const at::Tensor& labels) {
  return centers.index_select(0, labels) - features.detach().to(centers.scalar_type());
}

// (c_{y_i} - x_i) / (1 + n_{y_i}): the rows are divided before they are summed, so that only rows
// of classes in the batch are touched.
at::Tensor center_shares(const at::Tensor& centers, const at::Tensor& features,
                         const at::Tensor& labels) {
  at::Tensor count = at::ones({centers.size(0)}, centers.options());
  count.index_add_(0, labels, at::ones({labels.size(0)}, centers.options()));
  return from_centers(centers, features, labels) / count.index_select(0, labels).unsqueeze(1);
}

}  // namespace

void SoftmaxOptions::describe(OptionsBuilder<SoftmaxOptions>& o) {
  o.name("SoftmaxOptions", "Softmax cross entropy of a linear classifier.");
  o.field("bias", &SoftmaxOptions::bias, "whether the classifier has a bias");
  o.choice("init", &SoftmaxOptions::init, init_doc, init_names);
}

void CenterOptions::describe(OptionsBuilder<CenterOptions>& o) {
  o.name("CenterOptions", "Softmax joint with the distance to learned class centres.");
  o.field("weight", &CenterOptions::weight, "lambda, the weight of the centre term", 0, 1e6);
  o.field("alpha", &CenterOptions::alpha,
          "how far a centre moves in a step; with update = caffe a factor of the learning rate", 0,
          1);
  o.choice("update", &CenterOptions::update,
           "paper: the centres move by Eq. 4; caffe: the authors' layer, the optimizer moves them "
           "by that gradient; facenet: by alpha sum (c - x), distance averaged over dimensions too",
           {"paper", "caffe", "facenet"});
  o.field("bias", &CenterOptions::bias, "whether the classifier has a bias");
  o.choice("init", &CenterOptions::init, init_doc, init_names);
}

void SphereFaceOptions::describe(OptionsBuilder<SphereFaceOptions>& o) {
  o.name("SphereFaceOptions", "A-Softmax with annealing.");
  o.field("m", &SphereFaceOptions::m, "angular margin, a whole factor of the angle", 1, 8);
  o.field("lambda_base", &SphereFaceOptions::lambda_base, "lambda before annealing", 0, 1e9);
  o.field("lambda_min", &SphereFaceOptions::lambda_min, "lambda never falls below", 0, 1e9);
  o.field("gamma", &SphereFaceOptions::gamma, "speed of annealing per iteration", 0, 1e6);
  o.field("power", &SphereFaceOptions::power, "exponent of annealing", 0, 100);
  o.choice("gradient", &SphereFaceOptions::gradient,
           "exact, or caffe: what the authors' layer computes, which also normalises the weights "
           "in place",
           {"exact", "caffe"});
  o.choice("init", &SphereFaceOptions::init, init_doc, init_names);
}

void CosFaceOptions::describe(OptionsBuilder<CosFaceOptions>& o) {
  o.name("CosFaceOptions", "Large margin cosine loss.");
  o.field("s", &CosFaceOptions::s, "scale of the cosines", 1e-3, 1e4);
  o.field("m", &CosFaceOptions::m, "margin taken off the true class's cosine", 0, 2);
  o.choice("init", &CosFaceOptions::init, init_doc, init_names);
}

void ArcFaceOptions::describe(OptionsBuilder<ArcFaceOptions>& o) {
  o.name("ArcFaceOptions", "Additive angular margin loss.");
  o.field("s", &ArcFaceOptions::s, "scale of the cosines", 1e-3, 1e4);
  o.field("m", &ArcFaceOptions::m, "margin added to the true class's angle, radians", 0,
          std::numbers::pi);
  o.choice("past_pi", &ArcFaceOptions::past_pi, "what stands where theta + m > pi",
           {"linear", "wrap", "easy"});
  o.choice("gradient", &ArcFaceOptions::gradient, "gradient of the margin", {"exact", "constant"});
  o.choice("init", &ArcFaceOptions::init, init_doc, init_names);
}

at::Tensor normalize_rows(const at::Tensor& x) {
  return x * x.square().sum(1, /*keepdim=*/true).clamp_min(1e-12).rsqrt();
}

at::Tensor sphereface_psi(const at::Tensor& cosine, int m) {
  const at::Tensor k = sphereface_interval(cosine, m);
  at::Tensor previous = at::ones_like(cosine), chebyshev = cosine;  // T_0, T_1
  for (int j = 1; j < m; ++j) {
    const at::Tensor next = 2 * cosine * chebyshev - previous;
    previous = chebyshev;
    chebyshev = next;
  }
  return alternating_sign(k) * chebyshev - 2 * k;
}

at::Tensor sphereface_psi_slope(const at::Tensor& cosine, int m) {
  const at::Tensor k = sphereface_interval(cosine, m);
  at::Tensor previous = at::zeros_like(cosine), chebyshev = at::ones_like(cosine);  // U_-1, U_0
  for (int j = 1; j < m; ++j) {
    const at::Tensor next = 2 * cosine * chebyshev - previous;
    previous = chebyshev;
    chebyshev = next;
  }
  return m * alternating_sign(k) * chebyshev;
}

at::Tensor sphereface_caffe_logits(const at::Tensor& features, const at::Tensor& weight,
                                   const at::Tensor& labels, int m, double lambda) {
  const at::Tensor target = labels.unsqueeze(1);
  at::Tensor values, true_class;  // the logits; what stands for w in the true class's gradient
  const at::Tensor x = features.detach();
  const at::Tensor w = normalize_rows(weight.detach());
  {
    const at::NoGradGuard no_grad;
    const at::Tensor norm = x.square().sum(1, /*keepdim=*/true).clamp_min(1e-12).sqrt();
    const at::Tensor own = w.index_select(0, labels);
    const at::Tensor cosine = ((x * own).sum(1, true) / norm).clamp(-1, 1);
    const at::Tensor psi = sphereface_psi(cosine, m);
    values = x.mm(w.t()).scatter(1, target, norm * (lambda * cosine + psi) / (1 + lambda));
    const at::Tensor along_w = sphereface_psi_slope(cosine, m);
    const at::Tensor along_x = (psi - cosine * along_w) / norm;
    const at::Tensor length = (along_w.square() + along_x.square()).clamp_min(1e-24).sqrt();
    true_class = ((along_w * own + along_x * x) / length + lambda * own) / (1 + lambda);
    true_class -= own;
  }
  // Terms that carry the gradients; their values cancel.
  const at::Tensor carrier =
      (x.mm(weight.t()) + features.mm(w.t()))
          .scatter_add(1, target, (features * true_class).sum(1, /*keepdim=*/true));
  return values + (carrier - carrier.detach());
}

double sphereface_lambda(const SphereFaceOptions& options, std::int64_t iteration) {
  const double annealed =
      options.lambda_base *
      std::pow(1 + options.gamma * static_cast<double>(iteration), -options.power);
  return std::max(options.lambda_min, annealed);
}

at::Tensor arcface_margin(const at::Tensor& cosine, const ArcFaceOptions& options) {
  const double smallest = cosine.scalar_type() == at::kDouble ? 1e-12 : 1e-6;
  const at::Tensor sine = (1 - cosine.square()).clamp_min(smallest).sqrt();
  at::Tensor result = cosine * std::cos(options.m) - sine * std::sin(options.m);
  if (options.past_pi == "linear") {
    // theta + m > pi is c < cos(pi - m).
    result = at::where(cosine.detach() < -std::cos(options.m),
                       cosine - options.m * std::sin(options.m), result);
  } else if (options.past_pi == "easy") {
    result = at::where(cosine.detach() > 0, result, cosine);
  }
  if (options.gradient == "constant") result = cosine + (result - cosine).detach();
  return result;
}

at::Tensor center_distance(const at::Tensor& features, const at::Tensor& labels,
                           const at::Tensor& centers) {
  const at::Tensor difference = features - centers.detach().index_select(0, labels);
  return difference.square().sum() / (2.0 * static_cast<double>(features.size(0)));
}

void update_centers(at::Tensor& centers, const at::Tensor& features, const at::Tensor& labels,
                    double alpha) {
  const at::NoGradGuard no_grad;
  centers.index_add_(0, labels, center_shares(centers, features, labels), /*alpha=*/-alpha);
}

at::Tensor center_gradient(const at::Tensor& centers, const at::Tensor& features,
                           const at::Tensor& labels) {
  const at::NoGradGuard no_grad;
  return at::zeros_like(centers).index_add_(0, labels, center_shares(centers, features, labels));
}

at::Tensor facenet_center_distance(const at::Tensor& features, const at::Tensor& labels,
                                   const at::Tensor& centers) {
  return (features - centers.detach().index_select(0, labels)).square().mean();
}

void facenet_update_centers(at::Tensor& centers, const at::Tensor& features,
                            const at::Tensor& labels, double alpha) {
  const at::NoGradGuard no_grad;
  centers.index_add_(0, labels, from_centers(centers, features, labels), /*alpha=*/-alpha);
}

}  // namespace facebench
