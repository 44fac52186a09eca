// CurricularFace: ArcFace whose hard negatives weigh more as training goes on. A negative is hard
// where cos(theta_j) > cos(theta_y + m); its cosine becomes cos(theta_j) (t + cos(theta_j)), with t
// a moving average of the true classes' cosines. Source: Huang et al., "CurricularFace", CVPR 2020;
// the authors' metrics.py, in which t moves before it is used and a true class past pi
// is ArcFace's "linear".

#include <ATen/core/grad_mode.h>

#include "nn/losses/arcface.h"
#include "nn/losses/parts.h"

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
    take_all_logits();
    add_buffer("t", at::zeros({}, at::TensorOptions(shape().dtype)), BufferReduction::mean);
  }

 protected:
  Output compute(HeadInput& input) override {
    const at::Tensor cosine = cosines(input);
    const at::Tensor own = cosine.gather(1, input.labels().unsqueeze(1));
    if (training()) {
      const at::NoGradGuard no_grad;
      buffer(0).mul_(1 - options_.alpha).add_(options_.alpha * own.mean());
    }
    const at::Tensor margin = at::full({1, 1}, options_.m, own.options());
    const at::Tensor bound = arcface_margin(own, margin, "wrap").detach();
    const at::Tensor t = buffer(0).to(cosine.scalar_type());
    const at::Tensor others = at::where(cosine.detach() > bound, cosine * (t + cosine), cosine);
    return cross_entropy(options_.s, others, arcface_margin(own, margin, "linear"), input.labels(),
                         cosine);
  }

 private:
  CurricularFaceOptions options_;
};

}  // namespace

LossEntry curricularface_loss() {
  return loss_entry<CurricularFaceOptions, CurricularFaceHead>(
      "curricularface", "margin on the angle, and hard negatives that weigh more and more",
      "Huang et al., CurricularFace, CVPR 2020, as in the authors' metrics.py");
}

}  // namespace facebench
