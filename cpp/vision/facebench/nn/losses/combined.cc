// Combined margin: SphereFace's factor, ArcFace's and CosFace's summand at once,
//   s (cos(m1 theta + m2) - m3).
// Source: Deng et al., "ArcFace", CVPR 2019, Eq. 4; (1, 0.3, 0.2) is its table 2's "CM1", and
// (0.9, 0.4, 0.15) its "CM2": the factor may be below 1. As in the authors' MXNet code, nothing is
// changed where m1 theta + m2 > pi.

#include <cmath>

#include "facebench/nn/losses/parts.h"

#include "facebench/core/options.h"

namespace facebench {
namespace {

struct CombinedOptions {
  double s = 64;
  double m1 = 1;
  double m2 = 0.3;
  double m3 = 0.2;
  std::string init = "xavier";

  static void describe(OptionsBuilder<CombinedOptions>& o) {
    o.name("CombinedOptions", "Margins on angle and cosine at once.");
    o.field("s", &CombinedOptions::s, "scale of the cosines", 1e-3, 1e4);
    o.field("m1", &CombinedOptions::m1,
            "factor of the true class's angle; below 1 it makes up for the summands", 1e-3, 8);
    o.field("m2", &CombinedOptions::m2, "margin added to it, radians", 0, 3.15);
    o.field("m3", &CombinedOptions::m3, "margin taken off the cosine of that", 0, 2);
    describe_init(o);
  }
};

class CombinedHead : public CosineHead {
 public:
  CombinedHead(Description description, const CombinedOptions& options)
      : CosineHead(std::move(description), options.init), options_(options) {}

 protected:
  Output compute(HeadInput& input) override {
    return classify(input, options_.s, [this](const at::Tensor& cosine) {
      // Held away from the poles, where the angle's gradient is infinite.
      const double most = 1 - (cosine.scalar_type() == at::kDouble ? 1e-12 : 1e-6);
      const at::Tensor angle = cosine.clamp(-most, most).acos();
      return (options_.m1 * angle + options_.m2).cos() - options_.m3;
    });
  }

 private:
  CombinedOptions options_;
};

}  // namespace

LossEntry combined_loss() {
  return loss_entry<CombinedOptions, CombinedHead>(
      "combined", "margins on the angle (factor and summand) and on the cosine",
      "Deng et al., ArcFace, CVPR 2019, Eq. 4");
}

}  // namespace facebench
