// ArcFace: a margin added to the true class's angle, s cos(theta + m).
// Source: Deng et al., "ArcFace", CVPR 2019, Eq. 3; Wang & Guo 2019, Eq. 5, which is printed with
// s (cos(theta) + m).

#include "nn/losses/arcface.h"

#include <cmath>
#include <numbers>

#include "nn/losses/parts.h"

namespace facebench {
namespace {

class ArcFaceHead : public CosineHead {
 public:
  ArcFaceHead(Description description, const ArcFaceOptions& options)
      : CosineHead(std::move(description), options.init), options_(options) {}

 protected:
  Output compute(HeadInput& input) override {
    return classify(input, options_.s,
                    [this](const at::Tensor& cosine) { return arcface_margin(cosine, options_); });
  }

 private:
  ArcFaceOptions options_;
};

}  // namespace

void ArcFaceOptions::describe(OptionsBuilder<ArcFaceOptions>& o) {
  o.name("ArcFaceOptions", "Additive angular margin loss.");
  o.field("s", &ArcFaceOptions::s, "scale of the cosines", 1e-3, 1e4);
  o.field("m", &ArcFaceOptions::m, "margin added to the true class's angle, radians", 0,
          std::numbers::pi);
  o.choice("past_pi", &ArcFaceOptions::past_pi, "what stands where theta + m > pi",
           {"linear", "wrap", "easy"});
  o.choice("gradient", &ArcFaceOptions::gradient, "gradient of the margin", {"exact", "constant"});
  describe_init(o);
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

LossEntry arcface_loss() {
  return loss_entry<ArcFaceOptions, ArcFaceHead>(
      "arcface", "additive margin on the angle",
      "Deng et al., ArcFace, CVPR 2019, Eq. 3; Wang & Guo 2019, Eq. 5 (printed with "
      "s (cos(theta) + m))");
}

}  // namespace facebench
