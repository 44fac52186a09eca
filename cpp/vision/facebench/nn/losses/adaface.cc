// AdaFace: a margin that goes by the image's quality, which the norm of its features tells. With q
// the norm less a moving average, over a moving deviation, times h, within -1 and 1:
//   s (cos(theta - m q) - m - m q).
// Source: Kim, Jain, Liu, "AdaFace", CVPR 2022, and the authors' head.py for what
// the paper leaves open: norms count from 0.001 to 100, angles keep 0.001 from 0 and pi, the
// averages are moved before they are used and start at 20 and 100. That code also keeps the other
// classes' cosines 0.001 away from -1 and 1; here they stay what they are.

#include <ATen/core/grad_mode.h>

#include <numbers>

#include "facebench/nn/losses/parts.h"

#include "facebench/core/options.h"

namespace facebench {
namespace {

struct AdaFaceOptions {
  double s = 64;
  double m = 0.4;
  double h = 0.333;
  double t_alpha = 0.01;
  std::string init = "xavier";

  static void describe(OptionsBuilder<AdaFaceOptions>& o) {
    o.name("AdaFaceOptions", "Margin by the quality of the image.");
    o.field("s", &AdaFaceOptions::s, "scale of the cosines", 1e-3, 1e4);
    o.field("m", &AdaFaceOptions::m, "margin", 0, 1.5);
    o.field("h", &AdaFaceOptions::h, "how much of the margin a deviation of the norm moves", 0, 10);
    o.field("t_alpha", &AdaFaceOptions::t_alpha,
            "share of a batch in the moving mean and deviation of the norms", 0, 1);
    describe_init(o);
  }
};

class AdaFaceHead : public CosineHead {
 public:
  AdaFaceHead(Description description, const AdaFaceOptions& options)
      : CosineHead(std::move(description), options.init), options_(options) {
    const at::TensorOptions type(shape().dtype);
    add_buffer("batch_mean", at::full({}, 20, type), BufferReduction::mean);
    add_buffer("batch_std", at::full({}, 100, type), BufferReduction::mean);
  }

 protected:
  Output compute(HeadInput& input) override {
    constexpr double eps = 1e-3;
    const at::Tensor norms = input.norms().detach().clamp(eps, 100);
    if (training()) move_averages(norms);
    const at::Tensor quality =
        ((norms - buffer(0)) / (buffer(1) + eps) * options_.h).clamp(-1, 1).to(norms.scalar_type());
    const double m = options_.m;
    return classify(input, options_.s, [&](const at::Tensor& cosine) {
      const at::Tensor angle = cosine.clamp(-1 + eps, 1 - eps).acos() - m * quality;
      return angle.clamp(eps, std::numbers::pi - eps).cos() - m * (1 + quality);
    });
  }

 private:
  // The deviation of a single image counts as 0.
  void move_averages(const at::Tensor& norms) {
    const at::NoGradGuard no_grad;
    const double share = options_.t_alpha;
    buffer(0).mul_(1 - share).add_(share * norms.mean());
    buffer(1).mul_(1 - share);
    if (norms.numel() > 1) buffer(1).add_(share * norms.std());
  }

  AdaFaceOptions options_;
};

}  // namespace

LossEntry adaface_loss() {
  return loss_entry<AdaFaceOptions, AdaFaceHead>(
      "adaface", "margin on angle and cosine by the image's quality",
      "Kim et al., AdaFace, CVPR 2022, as in the authors' head.py");
}

}  // namespace facebench
