// ElasticFace: a margin drawn anew for each image and step, from a normal distribution,
//   s cos(theta + E) (on = angle) or s (cos(theta) - E) (on = cosine), E ~ N(m, std).
// Source: Boutros et al., "ElasticFace", CVPR workshops 2022; nothing is changed past
// pi, as in the authors' losses.py. With `plus`, images further from their class's centre get the
// larger of the drawn margins (their ElasticFace+).

#include <ATen/core/grad_mode.h>

#include "facebench/core/options.h"
#include "facebench/core/random.h"
#include "facebench/nn/losses/arcface.h"
#include "facebench/nn/losses/parts.h"

namespace facebench {
namespace {

struct ElasticFaceOptions {
  std::string on = "angle";
  double s = 64;
  double m = 0.5;
  double std = 0.0125;
  bool plus = false;
  std::string init = "normal";

  static void describe(OptionsBuilder<ElasticFaceOptions>& o) {
    o.name("ElasticFaceOptions", "Margins drawn from a normal distribution.");
    o.choice("on", &ElasticFaceOptions::on,
             "what the margin is put on: angle (ElasticFace-Arc) or cosine (ElasticFace-Cos, whose "
             "authors have m = 0.35)",
             {"angle", "cosine"});
    o.field("s", &ElasticFaceOptions::s, "scale of the cosines", 1e-3, 1e4);
    o.field("m", &ElasticFaceOptions::m, "mean of the margins", 0, 3.14);
    o.field("std", &ElasticFaceOptions::std, "standard deviation of the margins", 0, 1);
    o.field("plus", &ElasticFaceOptions::plus,
            "larger margins to images further from their class, within each process's batch");
    describe_init(o);
  }
};

class ElasticFaceHead : public CosineHead {
 public:
  ElasticFaceHead(Description description, const ElasticFaceOptions& options)
      : CosineHead(std::move(description), options.init), options_(options) {
    add_buffer("iteration", at::zeros({}, at::TensorOptions(at::kLong)),
               BufferReduction::broadcast);
  }

 protected:
  Output compute(HeadInput& input) override {
    if (training()) buffer(0).add_(1);
    const at::Tensor drawn = margins(input);
    return classify(input, options_.s, [&](const at::Tensor& cosine) {
      const at::Tensor margin = options_.plus ? by_distance(drawn, cosine) : drawn;
      return options_.on == "angle" ? arcface_margin(cosine, margin, "wrap") : cosine - margin;
    });
  }

 private:
  // (N, 1). An image's margin depends on the seed, the step and its place in the step's batch
  // alone.
  at::Tensor margins(const HeadInput& input) {
    const auto step = static_cast<std::uint64_t>(buffer(0).item<std::int64_t>());
    const std::int64_t n = input.labels().size(0);
    const at::Tensor result = at::empty({n, 1}, at::TensorOptions(at::kDouble));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t place = input.place().first + i * input.place().stride;
      Random random(shape().seed, "head.margin", {step, static_cast<std::uint64_t>(place)});
      result.data_ptr<double>()[i] = options_.m + options_.std * random.normal();
    }
    return result.to(input.features().options());
  }

  // The smallest margin to the largest cosine, and so on.
  static at::Tensor by_distance(const at::Tensor& margin, const at::Tensor& cosine) {
    const at::NoGradGuard no_grad;
    const at::Tensor rank =
        cosine.flatten().argsort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
    const at::Tensor sorted = std::get<0>(margin.flatten().sort());
    return at::empty_like(sorted).scatter_(0, rank, sorted).unsqueeze(1);
  }

  ElasticFaceOptions options_;
};

}  // namespace

LossEntry elasticface_loss() {
  return loss_entry<ElasticFaceOptions, ElasticFaceHead>(
      "elasticface", "margins on angle or cosine drawn for each image",
      "Boutros et al., ElasticFace, CVPR workshops 2022, and the authors' losses.py");
}

}  // namespace facebench
