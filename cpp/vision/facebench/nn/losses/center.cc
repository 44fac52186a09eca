// Center loss: softmax, plus the distance to a centre of each class that follows its features,
//   L = L_softmax + lambda / 2 |x_i - c_{y_i}|^2, averaged over the batch.
// Source: Wen et al., "A discriminative feature learning approach", ECCV 2016, Eqs. 2, 4 and 5, the
// distance divided by the number of images as in the authors' Caffe layer; Wang & Guo 2019, Eq. 2,
// which lacks the logarithm.

#include <ATen/core/grad_mode.h>

#include "facebench/core/options.h"
#include "facebench/nn/internal/class_split.h"
#include "facebench/nn/losses/parts.h"

namespace facebench {
namespace {

struct CenterOptions {
  double weight = 0.003;
  double alpha = 0.5;
  std::string update = "paper";
  bool bias = true;
  std::string init = "linear";

  static void describe(OptionsBuilder<CenterOptions>& o) {
    o.name("CenterOptions", "Softmax joint with the distance to learned class centres.");
    o.field("weight", &CenterOptions::weight, "lambda, the weight of the centre term", 0, 1e6);
    o.field("alpha", &CenterOptions::alpha,
            "how far a centre moves in a step; with update = caffe a factor of the learning rate",
            0, 1);
    o.choice("update", &CenterOptions::update,
             "paper: the centres move by Eq. 4; caffe: the authors' layer, the optimizer moves "
             "them by that gradient; facenet: by alpha sum (c - x), distance averaged over "
             "dimensions too",
             {"paper", "caffe", "facenet"});
    o.field("bias", &CenterOptions::bias, "whether the classifier has a bias");
    describe_init(o);
  }
};

class CenterHead : public LinearHead {
 public:
  CenterHead(Description description, const CenterOptions& options)
      : LinearHead(std::move(description), options.bias, options.init), options_(options) {
    if (options_.update != "caffe") {
      add_class_buffer("centers", shape().features, BufferReduction::sum);
      return;
    }
    refuse_split("with update = caffe its centres are not split");
    // Its layer has them among the solver's parameters.
    add_parameter("centers", {shape().classes, shape().features}, "xavier_caffe");
  }

 protected:
  Output compute(HeadInput& input) override {
    Output output = classify(input);
    // A conversion of its own: in mixed precision the gradient of each term is rounded by itself.
    const at::Tensor all = HeadInput(input.given(), input.labels()).features();
    // The images whose centres this process holds.
    const ClassSplit held = held_classes(input.labels());
    const at::Tensor x = all.index_select(0, held.held_images());
    const at::Tensor labels = held.rows_of_images().index_select(0, held.held_images());
    at::Tensor centers = options_.update == "caffe" ? parameters().back().tensor : buffer(0);
    const at::Tensor square = (x - centers.detach().index_select(0, labels)).square();
    // facenet's distance is a mean over dimensions too, without the half.
    const std::int64_t terms = options_.update == "facenet" ? all.numel() : 2 * all.size(0);
    const at::Tensor distance = held.summed(square.sum() / static_cast<double>(terms));
    output.loss = output.loss + options_.weight * distance;
    if (options_.update == "caffe")
      output.loss = output.loss + caffe_term(centers, x, labels);
    else if (training())
      move(centers, x, labels);
    return output;
  }

 private:
  // c_{y_i} - x_i, and with `shared` divided by 1 + n_{y_i}, where n_j images are of class j: one
  // row for each image, so that only centres of classes in the batch are touched.
  static at::Tensor from_centers(const at::Tensor& centers, const at::Tensor& x,
                                 const at::Tensor& labels, bool shared) {
    const at::Tensor rows = centers.index_select(0, labels) - x.detach().to(centers.scalar_type());
    if (!shared) return rows;
    at::Tensor count = at::ones({centers.size(0)}, centers.options());
    count.index_add_(0, labels, at::ones({labels.size(0)}, centers.options()));
    return rows / count.index_select(0, labels).unsqueeze(1);
  }

  // c_j -= alpha sum_i (c_j - x_i) / (1 + n_j) over the images of class j: Eq. 4. In facenet's code
  // (facenet.py, center_loss; its option alfa is 1 - alpha) nothing is divided, so that a class
  // with more images moves further.
  void move(at::Tensor& centers, const at::Tensor& x, const at::Tensor& labels) const {
    const at::NoGradGuard no_grad;
    centers.index_add_(0, labels, from_centers(centers, x, labels, options_.update == "paper"),
                       /*alpha=*/-options_.alpha);
  }

  // A term of value zero whose gradient is what the authors' layer hands its solver for the
  // centres: sum_i (c_j - x_i) / (1 + n_j), neither divided by the batch nor multiplied by the
  // loss's weight. The solver's rate, momentum and decay then move them.
  at::Tensor caffe_term(const at::Tensor& centers, const at::Tensor& x,
                        const at::Tensor& labels) const {
    at::Tensor gradient;
    {
      const at::NoGradGuard no_grad;
      gradient = options_.alpha * at::zeros_like(centers).index_add_(
                                      0, labels, from_centers(centers, x, labels, true));
    }
    return (gradient * (centers - centers.detach())).sum();
  }

  CenterOptions options_;
};

}  // namespace

LossEntry center_loss() {
  return loss_entry<CenterOptions, CenterHead>(
      "center", "softmax plus the distance to learned class centres",
      "Wen et al., ECCV 2016, Eq. 5; centre distance averaged over the batch as in the authors' "
      "Caffe layer; Wang & Guo 2019, Eq. 2");
}

}  // namespace facebench
