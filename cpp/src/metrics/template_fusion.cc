#include "facebench/metrics/template_fusion.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace facebench {
namespace {

using Vector = std::vector<double>;

// Divides by the length. Throws for zero (no direction) and for what is not finite.
void make_unit(std::span<double> v, const char* what) {
  double squared = 0;
  for (const double x : v) squared += x * x;
  if (!std::isfinite(squared) || squared == 0)
    throw std::invalid_argument(
        fmt::format("{} {}", what, squared == 0 ? "is zero" : "is not finite"));
  const double length = std::sqrt(squared);
  for (double& x : v) x /= length;
}

struct Medium {
  std::int32_t number = 0;
  std::int64_t samples = 0;
  Vector sum;
};

Medium& medium_of(std::vector<Medium>& media, std::int32_t number, std::size_t dim) {
  for (Medium& m : media)
    if (m.number == number) return m;
  return media.emplace_back(Medium{number, 0, Vector(dim, 0.0)});
}

}  // namespace

const Table<TemplateFusion>& template_fusions() {
  using Medium = TemplateFusion::Medium;
  static const Table<TemplateFusion> table(
      "template fusion",
      {{"mean_raw", "mean of the embeddings as they are",
        "Cao et al., VGGFace2, FG 2018, section V.B: averaging the feature vectors", false,
        Medium::ignored},
       {"mean_unit", "mean of the embeddings of unit length", "the other reading of the same text",
        true, Medium::ignored},
       {"media_mean_sum_raw",
        "mean within a medium of the embeddings as they are, sum over the media (N1)",
        "insightface, recognition/arcface_torch/eval_ijbc.py, use_norm_score=True", false,
        Medium::mean},
       {"media_mean_sum_unit",
        "mean within a medium of the embeddings of unit length, sum over the media (N0)",
        "FaceX-Zoo, ijbc_evaluator.py; TFace, test/IJB_Evaluation.py", true, Medium::mean},
       {"vggface2", "unit embeddings summed within a medium, each medium of unit length, summed",
        "ox-vgg/vgg_face2, standard_evaluation/ijb_evaluation.py", true, Medium::unit_sum}});
  return table;
}

std::vector<double> fuse_template(const TemplateFusion& fusion, std::span<const float> samples,
                                  std::span<const std::int32_t> media) {
  const std::size_t n = media.size();
  if (n == 0 || samples.empty() || samples.size() % n != 0)
    throw std::invalid_argument(
        fmt::format("a template of {} samples with {} values", n, samples.size()));
  const std::size_t dim = samples.size() / n;
  std::vector<Medium> sums;
  Vector row(dim);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < dim; ++k) row[k] = static_cast<double>(samples[i * dim + k]);
    Vector unit = row;
    make_unit(unit, "the embedding of a sample");
    const bool one = fusion.medium == TemplateFusion::Medium::ignored;
    Medium& m = medium_of(sums, one ? 0 : media[i], dim);
    ++m.samples;
    const Vector& added = fusion.unit_samples ? unit : row;
    for (std::size_t k = 0; k < dim; ++k) m.sum[k] += added[k];
  }
  Vector result(dim, 0.0);
  for (Medium& m : sums) {
    if (fusion.medium == TemplateFusion::Medium::mean)
      for (double& x : m.sum) x /= static_cast<double>(m.samples);
    if (fusion.medium == TemplateFusion::Medium::unit_sum)
      make_unit(m.sum, "the sum over a medium");
    for (std::size_t k = 0; k < dim; ++k) result[k] += m.sum[k];
  }
  make_unit(result, "the sum over a template");
  return result;
}

}  // namespace facebench
