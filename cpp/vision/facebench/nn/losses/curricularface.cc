// CurricularFace: ArcFace whose hard negatives weigh more as training goes on. A negative is hard
// where cos(theta_j) > cos(theta_y + m); its cosine becomes cos(theta_j) (t + cos(theta_j)), with t
// a moving average of the true classes' cosines. Source: Huang et al., "CurricularFace", CVPR 2020;
// the authors' metrics.py, in which t moves before it is used and a true class past pi
// is ArcFace's "linear".

#include "facebench/core/options.h"
#include "facebench/nn/losses/arcface.h"
#include "facebench/nn/losses/parts.h"

namespace facebench {
namespace {

struct CurricularFaceOptions {
  double s = 64;
  double m = 0.5;
  double alpha = 0.01;
  std::string init = "normal";

  static void describe(OptionsBuilder<CurricularFaceOptions>& o) {
    o.name("CurricularFaceOptions", "Angular margin with a curriculum of hard negatives.");
    o.field("s", &CurricularFaceOptions::s, "scale of the cosines", 1e-3, 1e4);
    o.field("m", &CurricularFaceOptions::m, "margin added to the true class's angle, radians", 0,
            3.14);
    o.field("alpha", &CurricularFaceOptions::alpha, "share of a batch in the moving average t", 0,
            1);
    describe_init(o);
  }
};

class CurricularFaceHead : public CosineHead {
 public:
  CurricularFaceHead(Description description, const CurricularFaceOptions& options)
      : CosineHead(std::move(description), options.init), options_(options) {
    add_buffer("t", at::zeros({}, at::TensorOptions(shape().dtype)), BufferReduction::mean);
  }

 protected:
  Output compute(HeadInput& input) override {
    const double s = options_.s;
    ClassLoss loss;
    loss.target = [&](const at::Tensor& cosine, const at::Tensor& scale, const at::Tensor&) {
      return scale * margin(cosine, "linear");
    };
    // s c (t + c) is z (t + z / s) with z = s c.
    loss.hard = [&](const at::Tensor& cosine, const at::Tensor&) {
      if (training()) buffer(0).mul_(1 - options_.alpha).add_(options_.alpha * cosine.mean());
      return HardNegatives{s * margin(cosine, "wrap"), buffer(0).item<double>(), 1 / s};
    };
    return classify(input, s, loss);
  }

 private:
  at::Tensor margin(const at::Tensor& cosine, std::string_view past_pi) const {
    return arcface_margin(cosine, at::full({1, 1}, options_.m, cosine.options()), past_pi);
  }

  CurricularFaceOptions options_;
};

}  // namespace

LossEntry curricularface_loss() {
  return loss_entry<CurricularFaceOptions, CurricularFaceHead>(
      "curricularface", "margin on the angle, and hard negatives that weigh more and more",
      "Huang et al., CurricularFace, CVPR 2020, as in the authors' metrics.py");
}

}  // namespace facebench
