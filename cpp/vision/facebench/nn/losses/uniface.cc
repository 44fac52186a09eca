// UniFace: one threshold b, learned, between the genuine and all other cosines, by a binary cross
// entropy for each class,
//   log(1 + exp(-(s (cos(theta_y) - m) - b))) + l sum over j != y of log(1 + exp(s cos(theta_j) -
//   b)),
// averaged over the batch. b starts at log(10 r n), n the classes of a step: a sample's sum has so
// many terms (the authors' r is the share that is sampled, and their first value log(10 r C)).
// Source: Zhou et al., "UniFace", ICCV 2023; the authors' head.py, where exponents
// count from -s to s.

#include <ATen/core/grad_mode.h>

#include <cmath>

#include "facebench/nn/losses/parts.h"

#include "facebench/core/options.h"

namespace facebench {
namespace {

struct UniFaceOptions {
  double s = 64;
  double m = 0.4;
  double l = 1;
  double r = 1;
  std::string init = "xavier";

  static void describe(OptionsBuilder<UniFaceOptions>& o) {
    o.name("UniFaceOptions", "Unified threshold: a binary cross entropy for each class.");
    o.field("s", &UniFaceOptions::s, "scale of the cosines", 1e-3, 1e4);
    o.field("m", &UniFaceOptions::m, "margin taken off the true class's cosine", 0, 2);
    o.field("l", &UniFaceOptions::l, "weight of the other classes", 0, 1e4);
    o.field("r", &UniFaceOptions::r,
            "factor in the threshold's first value, log(10 r n), n the classes of a step", 1e-9,
            1e9);
    describe_init(o);
  }
};

class UniFaceHead : public CosineHead {
 public:
  UniFaceHead(Description description, const UniFaceOptions& options)
      : CosineHead(std::move(description), options.init), options_(options) {
    const at::NoGradGuard no_grad;
    const double in_step = shape().sample_rate * static_cast<double>(shape().classes);
    add_parameter("bias", {1}, options.init).fill_(std::log(10 * options.r * in_step));
  }

 protected:
  Output compute(HeadInput& input) override {
    const UniFaceOptions& o = options_;
    ClassLoss loss;
    loss.target = [&](const at::Tensor& cosine, const at::Tensor& scale, const at::Tensor& b) {
      const at::Tensor x = (b - scale * (cosine - o.m)).clamp(-o.s, o.s);
      return at::logaddexp(x, at::zeros({}, x.options()));
    };
    loss.threshold = {o.l, o.s};
    const at::Tensor& x = input.features();
    const at::Tensor b = parameter(1).to(x.scalar_type()).expand({x.size(0), 1});
    Output output = classify(input, o.s, loss, b);
    output.target = output.target - o.s * o.m;
    return output;
  }

 private:
  UniFaceOptions options_;
};

}  // namespace

LossEntry uniface_loss() {
  return loss_entry<UniFaceOptions, UniFaceHead>(
      "uniface", "one learned threshold between genuine and other cosines",
      "Zhou et al., UniFace, ICCV 2023, as in the authors' head.py");
}

}  // namespace facebench
