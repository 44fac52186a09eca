#include "facebench/nn/losses.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace facebench {
namespace {

const std::vector<std::string> init_names{"linear", "xavier", "normal"};
constexpr const char* init_doc =
    "initial weights: linear U(+-1/sqrt(D)), xavier U(+-sqrt(6/(D+C))), normal N(0, 0.01)";

}  // namespace

void SoftmaxOptions::describe(OptionsBuilder<SoftmaxOptions>& o) {
  o.name("SoftmaxOptions", "Softmax cross entropy of a linear classifier.");
  o.field("bias", &SoftmaxOptions::bias, "whether the classifier has a bias");
  o.choice("init", &SoftmaxOptions::init, init_doc, init_names);
}

void CenterOptions::describe(OptionsBuilder<CenterOptions>& o) {
  o.name("CenterOptions", "Softmax joint with the distance to learned class centres.");
  o.field("weight", &CenterOptions::weight, "lambda, the weight of the centre term", 0, 1e6);
  o.field("alpha", &CenterOptions::alpha, "how far a centre moves in a step", 0, 1);
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
  if (m < 1) throw std::invalid_argument("sphereface: m must be at least 1");
  at::Tensor previous = at::ones_like(cosine), chebyshev = cosine;
  at::Tensor k = at::zeros_like(cosine);
  for (int j = 1; j < m; ++j) {
    at::Tensor next = 2 * cosine * chebyshev - previous;
    previous = chebyshev;
    chebyshev = next;
    // The cosine falls with the angle: each bound j pi/m that is passed adds one to k.
    k += cosine.detach().le(std::cos(j * std::numbers::pi / m));
  }
  const at::Tensor sign = 1 - 2 * k.remainder(2);
  return sign * chebyshev - 2 * k;
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
  const at::Tensor difference =
      centers.index_select(0, labels) - features.detach().to(centers.scalar_type());
  at::Tensor count = at::ones({centers.size(0)}, centers.options());
  count.index_add_(0, labels, at::ones({labels.size(0)}, centers.options()));
  // Each image's share is divided by its class's count first, so that only rows of classes in the
  // batch are touched.
  centers.index_add_(0, labels, difference / count.index_select(0, labels).unsqueeze(1),
                     /*alpha=*/-alpha);
}

}  // namespace facebench
