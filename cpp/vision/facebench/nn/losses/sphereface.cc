// SphereFace (A-Softmax): weights of unit length, features of their own; the true class's logit is
//   |x| (lambda cos(theta) + psi(theta)) / (1 + lambda),
// with a lambda that falls from step to step.
// Source: Liu et al., "SphereFace", CVPR 2017, Eqs. 6 and 7; the annealing is that of the authors'
// Caffe layer; Wang & Guo 2019, Eq. 3.

#include "facebench/nn/losses/sphereface.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "facebench/core/options.h"
#include "facebench/nn/losses/parts.h"

namespace facebench {
namespace {

// How many of the angles j pi/m, 0 < j < m, lie below theta, without gradient. The cosine falls
// with the angle.
at::Tensor interval(const at::Tensor& cosine, int m) {
  if (m < 1) throw std::invalid_argument("sphereface: m must be at least 1");
  at::Tensor k = at::zeros_like(cosine);
  for (int j = 1; j < m; ++j) k += cosine.detach().le(std::cos(j * std::numbers::pi / m));
  return k;
}

at::Tensor alternating_sign(const at::Tensor& k) { return 1 - 2 * k.remainder(2); }

// The true class's logits and the others, (N, C), with the values of A-Softmax mixed by lambda and
// with the gradients that the authors' Caffe layer computes, which are not the exact ones: with G
// the gradient of the logits, the weights get G^T x, as if neither they were normalised nor psi
// there; the features get G w, and for the true class ((cw w + cx x) / |(cw, cx)| + lambda w) /
// (1 + lambda) in place of w, where cw w + cx x is the gradient of |x| psi(theta).
// features (N, D); weight (C, D) as the optimizer holds it, rows of any length.
// Source: Liu et al., margin_inner_product_layer.cpp.
at::Tensor caffe_logits(const at::Tensor& features, const at::Tensor& weight,
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

class SphereFaceHead : public CosineHead {
 public:
  SphereFaceHead(Description description, const SphereFaceOptions& options)
      : CosineHead(std::move(description), options.init), options_(options) {
    if (options.gradient == "caffe") {
      refuse_split("gradient = caffe normalises the weights of all classes in place");
      take_all_logits();
    }
    add_buffer("iteration", at::zeros({}, at::TensorOptions(at::kLong)),
               BufferReduction::broadcast);
  }

 protected:
  Output compute(HeadInput& input) override {
    if (training()) buffer(0).add_(1);
    const double lambda = sphereface_lambda(options_, buffer(0).item<std::int64_t>());
    if (options_.gradient == "caffe") return as_in_caffe(input, lambda);
    const at::Tensor& norms = input.norms();
    return classify(
        input, input.features() / norms, norms,
        {.target = [&](const at::Tensor& cosine, const at::Tensor& scale, const at::Tensor&) {
          return scale * (lambda * cosine + sphereface_psi(cosine, options_.m)) / (1 + lambda);
        }});
  }

 private:
  Output as_in_caffe(const HeadInput& input, double lambda) {
    if (training()) {
      const at::NoGradGuard no_grad;
      parameter(0).copy_(normalize_rows(parameter(0)));
    }
    const at::Tensor& x = input.features();
    const at::Tensor weight = parameter(0).to(x.scalar_type());
    const at::Tensor logits = caffe_logits(x, weight, input.labels(), options_.m, lambda);
    return cross_entropy(logits, input.labels(), x.mm(normalize_rows(weight).t()));
  }

  SphereFaceOptions options_;
};

}  // namespace

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
  describe_init(o);
}

at::Tensor sphereface_psi(const at::Tensor& cosine, int m) {
  const at::Tensor k = interval(cosine, m);
  at::Tensor previous = at::ones_like(cosine), chebyshev = cosine;  // T_0, T_1
  for (int j = 1; j < m; ++j) {
    const at::Tensor next = 2 * cosine * chebyshev - previous;
    previous = chebyshev;
    chebyshev = next;
  }
  return alternating_sign(k) * chebyshev - 2 * k;
}

at::Tensor sphereface_psi_slope(const at::Tensor& cosine, int m) {
  const at::Tensor k = interval(cosine, m);
  at::Tensor previous = at::zeros_like(cosine), chebyshev = at::ones_like(cosine);  // U_-1, U_0
  for (int j = 1; j < m; ++j) {
    const at::Tensor next = 2 * cosine * chebyshev - previous;
    previous = chebyshev;
    chebyshev = next;
  }
  return m * alternating_sign(k) * chebyshev;
}

double sphereface_lambda(const SphereFaceOptions& options, std::int64_t iteration) {
  const double annealed =
      options.lambda_base *
      std::pow(1 + options.gamma * static_cast<double>(iteration), -options.power);
  return std::max(options.lambda_min, annealed);
}

LossEntry sphereface_loss() {
  return loss_entry<SphereFaceOptions, SphereFaceHead>(
      "sphereface", "A-Softmax: multiplicative angular margin, annealed",
      "Liu et al., CVPR 2017, Eq. 7; annealing as in the authors' Caffe layer, with the true "
      "gradient of psi; Wang & Guo 2019, Eq. 3");
}

}  // namespace facebench
