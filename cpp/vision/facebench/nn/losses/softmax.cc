// Softmax cross entropy of a linear classifier,
//   L = -1/N sum_i log( exp(W_{y_i} x_i + b_{y_i}) / sum_j exp(W_j x_i + b_j) ).
// Source: Wang & Guo 2019, Eq. 1, which is printed without the logarithm and with W_j for W_{y_i}.

#include "facebench/nn/losses/parts.h"

#include "facebench/core/options.h"

namespace facebench {
namespace {

struct SoftmaxOptions {
  bool bias = true;
  std::string init = "linear";

  static void describe(OptionsBuilder<SoftmaxOptions>& o) {
    o.name("SoftmaxOptions", "Softmax cross entropy of a linear classifier.");
    o.field("bias", &SoftmaxOptions::bias, "whether the classifier has a bias");
    describe_init(o);
  }
};

class SoftmaxHead : public LinearHead {
 public:
  SoftmaxHead(Description description, const SoftmaxOptions& options)
      : LinearHead(std::move(description), options.bias, options.init) {}

 protected:
  Output compute(HeadInput& input) override { return classify(input); }
};

}  // namespace

LossEntry softmax_loss() {
  return loss_entry<SoftmaxOptions, SoftmaxHead>(
      "softmax", "cross entropy of a linear classifier",
      "Wang & Guo 2019, Eq. 1 (printed without the logarithm, with W_j for W_yi)");
}

}  // namespace facebench
