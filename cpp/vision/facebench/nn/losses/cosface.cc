// CosFace: a margin taken off the true class's cosine, s (cos(theta) - m).
// Source: Wang et al., "CosFace", CVPR 2018, Eq. 4; Wang & Guo 2019, Eq. 4.

#include "facebench/nn/losses/parts.h"

#include "facebench/core/options.h"

namespace facebench {
namespace {

struct CosFaceOptions {
  double s = 64;
  double m = 0.35;
  std::string init = "xavier";

  static void describe(OptionsBuilder<CosFaceOptions>& o) {
    o.name("CosFaceOptions", "Large margin cosine loss.");
    o.field("s", &CosFaceOptions::s, "scale of the cosines", 1e-3, 1e4);
    o.field("m", &CosFaceOptions::m, "margin taken off the true class's cosine", 0, 2);
    describe_init(o);
  }
};

class CosFaceHead : public CosineHead {
 public:
  CosFaceHead(Description description, const CosFaceOptions& options)
      : CosineHead(std::move(description), options.init), options_(options) {}

 protected:
  Output compute(HeadInput& input) override {
    return classify(input, options_.s,
                    [this](const at::Tensor& cosine) { return cosine - options_.m; });
  }

 private:
  CosFaceOptions options_;
};

}  // namespace

LossEntry cosface_loss() {
  return loss_entry<CosFaceOptions, CosFaceHead>(
      "cosface", "additive margin on the cosine",
      "Wang et al., CosFace, CVPR 2018, Eq. 4; Wang & Guo 2019, Eq. 4");
}

}  // namespace facebench
