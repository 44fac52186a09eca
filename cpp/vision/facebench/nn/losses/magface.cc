// MagFace: ArcFace with a margin that grows with the feature's length a, and a term that makes long
// features of easy images,
//   L = L_arcface(m(a)) + lambda_g g(a),  m(a) from l_margin at l_a to u_margin at u_a,
//   g(a) = a / u_a^2 + 1 / a, averaged over the batch; a counts from l_a to u_a.
// Source: Meng et al., "MagFace", CVPR 2021; magface.py of the authors, whose
// classifier has the margin only where cos(theta) > 0 (past_pi = easy).

#include <stdexcept>

#include "facebench/core/options.h"
#include "facebench/nn/losses/arcface.h"
#include "facebench/nn/losses/parts.h"

namespace facebench {
namespace {

struct MagFaceOptions {
  double s = 64;
  double l_a = 10;
  double u_a = 110;
  double l_margin = 0.45;
  double u_margin = 0.8;
  double lambda_g = 35;
  std::string past_pi = "easy";
  std::string init = "xavier";

  static void describe(OptionsBuilder<MagFaceOptions>& o) {
    o.name("MagFaceOptions", "Angular margin by the feature's length.");
    o.field("s", &MagFaceOptions::s, "scale of the cosines", 1e-3, 1e4);
    o.field("l_a", &MagFaceOptions::l_a, "length from which the margin grows", 1e-3, 1e6);
    o.field("u_a", &MagFaceOptions::u_a, "length to which it grows; more than l_a", 1e-3, 1e6);
    o.field("l_margin", &MagFaceOptions::l_margin, "margin at l_a, radians", 0, 3.14);
    o.field("u_margin", &MagFaceOptions::u_margin, "margin at u_a, radians", 0, 3.14);
    o.field("lambda_g", &MagFaceOptions::lambda_g, "weight of the term of lengths", 0, 1e6);
    o.choice("past_pi", &MagFaceOptions::past_pi, "what stands where theta + m > pi, see arcface",
             {"easy", "linear", "wrap"});
    describe_init(o);
  }
};

class MagFaceHead : public CosineHead {
 public:
  MagFaceHead(Description description, const MagFaceOptions& options)
      : CosineHead(std::move(description), options.init), options_(options) {
    if (options.u_a <= options.l_a) throw std::invalid_argument("magface: u_a must exceed l_a");
  }

 protected:
  Output compute(HeadInput& input) override {
    const MagFaceOptions& o = options_;
    const at::Tensor lengths = input.norms().clamp(o.l_a, o.u_a);
    const at::Tensor unit = normalize_rows(input.features());
    const double slope = (o.u_margin - o.l_margin) / (o.u_a - o.l_a);
    Output output =
        classify(input, unit, at::full({1, 1}, o.s, unit.options()),
                 {.target =
                      [&](const at::Tensor& cosine, const at::Tensor& scale, const at::Tensor& a) {
                        const at::Tensor margin = slope * (a - o.l_a) + o.l_margin;
                        return scale * arcface_margin(cosine, margin, o.past_pi);
                      }},
                 lengths);
    const at::Tensor term = lengths / (o.u_a * o.u_a) + lengths.reciprocal();
    output.loss = output.loss + o.lambda_g * once(term.mean());
    return output;
  }

 private:
  // Every process of a split head computes this term, and their gradients are summed up.
  at::Tensor once(const at::Tensor& term) const {
    if (!shape().split_classes || !shape().processes) return term;
    const at::Tensor part = term / static_cast<double>(shape().processes->size());
    return part + (term - part).detach();
  }

  MagFaceOptions options_;
};

}  // namespace

LossEntry magface_loss() {
  return loss_entry<MagFaceOptions, MagFaceHead>(
      "magface", "margin on the angle by the feature's length, which is trained too",
      "Meng et al., MagFace, CVPR 2021, as in the authors' magface.py");
}

}  // namespace facebench
