// ArcFace: a margin added to the true class's angle, s cos(theta + m).
// Source: Deng et al., "ArcFace", CVPR 2019, Eq. 3; Wang & Guo 2019, Eq. 5, which is printed with
// s (cos(theta) + m).

#include "facebench/nn/losses/arcface.h"

#include <cmath>
#include <numbers>

#include "facebench/core/options.h"
#include "facebench/nn/losses/parts.h"

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

at::Tensor cosine_of(const at::Tensor& angle) { return angle.cos(); }
at::Tensor sine_of(const at::Tensor& angle) { return angle.sin(); }
double cosine_of(double angle) { return std::cos(angle); }
double sine_of(double angle) { return std::sin(angle); }

// `m` is a number or a tensor.
template <class Margin>
at::Tensor with_margin(const at::Tensor& cosine, const Margin& m, std::string_view past_pi) {
  const double smallest = cosine.scalar_type() == at::kDouble ? 1e-12 : 1e-6;
  const at::Tensor sine = (1 - cosine.square()).clamp_min(smallest).sqrt();
  const at::Tensor result = cosine * cosine_of(m) - sine * sine_of(m);
  // theta + m > pi is c < cos(pi - m).
  if (past_pi == "linear")
    return at::where(cosine.detach() < -cosine_of(m), cosine - m * sine_of(m), result);
  if (past_pi == "easy") return at::where(cosine.detach() > 0, result, cosine);
  return result;
}

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
  const at::Tensor result = with_margin(cosine, options.m, options.past_pi);
  return options.gradient == "constant" ? cosine + (result - cosine).detach() : result;
}

at::Tensor arcface_margin(const at::Tensor& cosine, const at::Tensor& margin,
                          std::string_view past_pi) {
  return with_margin(cosine, margin, past_pi);
}

LossEntry arcface_loss() {
  return loss_entry<ArcFaceOptions, ArcFaceHead>(
      "arcface", "additive margin on the angle",
      "Deng et al., ArcFace, CVPR 2019, Eq. 3; Wang & Guo 2019, Eq. 5 (printed with "
      "s (cos(theta) + m))");
}

}  // namespace facebench
