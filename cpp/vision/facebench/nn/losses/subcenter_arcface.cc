// Sub-center ArcFace: each class has k centres, and the one next to the image counts,
//   cos(theta_j) = max over the k rows of class j; then ArcFace.
// So wrong labels gather around centres of their own.
// Source: Deng et al., "Sub-center ArcFace", ECCV 2020. Rows j k to j k + k - 1 of
// the weight are class j's.

#include "facebench/core/options.h"
#include "facebench/nn/losses/arcface.h"
#include "facebench/nn/losses/parts.h"

namespace facebench {
namespace {

struct SubcenterArcFaceOptions {
  double s = 64;
  double m = 0.5;
  std::int64_t k = 3;
  std::string past_pi = "linear";
  std::string init = "xavier";

  static void describe(OptionsBuilder<SubcenterArcFaceOptions>& o) {
    o.name("SubcenterArcFaceOptions", "Angular margin to the nearest of several centres.");
    o.field("s", &SubcenterArcFaceOptions::s, "scale of the cosines", 1e-3, 1e4);
    o.field("m", &SubcenterArcFaceOptions::m, "margin added to the true class's angle, radians", 0,
            3.14);
    o.field("k", &SubcenterArcFaceOptions::k, "centres of each class", 1, 64);
    o.choice("past_pi", &SubcenterArcFaceOptions::past_pi,
             "what stands where theta + m > pi, see arcface", {"linear", "wrap", "easy"});
    describe_init(o);
  }
};

class SubcenterArcFaceHead : public CosineHead {
 public:
  SubcenterArcFaceHead(Description description, const SubcenterArcFaceOptions& options)
      : CosineHead(std::move(description), options.init, options.k), options_(options) {}

 protected:
  Output compute(HeadInput& input) override {
    return classify(input, options_.s, [this](const at::Tensor& cosine) {
      const at::Tensor margin = at::full({1, 1}, options_.m, cosine.options());
      return arcface_margin(cosine, margin, options_.past_pi);
    });
  }

 private:
  SubcenterArcFaceOptions options_;
};

}  // namespace

LossEntry subcenter_arcface_loss() {
  return loss_entry<SubcenterArcFaceOptions, SubcenterArcFaceHead>(
      "subcenter_arcface", "margin on the angle to the nearest of several centres of a class",
      "Deng et al., Sub-center ArcFace, ECCV 2020");
}

}  // namespace facebench
