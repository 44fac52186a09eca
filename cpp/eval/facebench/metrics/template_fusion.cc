#include "facebench/metrics/template_fusion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

// The way of a script, whose switches stand in the line that `facebench list fusions` prints.
TemplateFusion script_fusion(std::string name, std::string_view remark, std::string source,
                             bool unit_samples, bool detector_scores, std::string flip) {
  TemplateFusion f{std::move(name),
                   "",
                   std::move(source),
                   unit_samples,
                   TemplateFusion::Medium::mean,
                   detector_scores,
                   std::move(flip)};
  f.doc = fmt::format("{} ({})", fmt::join(fusion_switches(f), "; "), remark);
  return f;
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
       {"media_mean_sum_raw_scored",
        "each embedding as it is times the score of its detection, mean within a medium, sum over "
        "the media",
        "insightface, recognition/arcface_torch/eval_ijbc.py, use_detector_score=True", false,
        Medium::mean, true},
       {"media_mean_sum_unit_scored",
        "each embedding of unit length times the score of its detection, mean within a medium, sum "
        "over the media",
        "the same, use_norm_score=False", true, Medium::mean, true},
       {"vggface2", "unit embeddings summed within a medium, each medium of unit length, summed",
        "ox-vgg/vgg_face2, standard_evaluation/ijb_evaluation.py", true, Medium::unit_sum},
       script_fusion("ijb_11", "N1D1F1 as it prints it",
                     "insightface, recognition/_evaluation_/ijb/ijb_11.py", false, true, "sum"),
       script_fusion("eval_ijbc", "N1D1F1 as it prints it",
                     "insightface, recognition/arcface_torch/eval_ijbc.py", false, true, "sum"),
       script_fusion("ijb_evals", "N0D1F1 as it prints it: its N means the opposite",
                     "insightface, recognition/_evaluation_/ijb/ijb_evals.py", false, true, "sum"),
       script_fusion("cvlface",
                     "the first of the three lines it prints; the others are "
                     "media_mean_sum_raw and media_mean_sum_unit_scored",
                     "mk-minchul/CVLface, evaluations/ijbbc/evaluate.py", false, true, "sum"),
       script_fusion("adaface",
                     "unit embeddings times their norms (pre_norm_vector_add), which is the "
                     "embeddings as they are",
                     "mk-minchul/AdaFace, validation_mixed/validate_IJB_BC.py", false, false,
                     "sum"),
       script_fusion("facexzoo", "N0D1 with no flip",
                     "JDAI-CV/FaceX-Zoo, test_protocol/ijbc_evaluator.py", true, true, "none"),
       script_fusion("tface", "N0D0F0", "Tencent/TFace, test/IJB_Evaluation.py", true, false,
                     "none")});
  return table;
}

std::vector<std::string> fusion_switches(const TemplateFusion& f) {
  using Medium = TemplateFusion::Medium;
  std::vector<std::string> out = {
      f.unit_samples ? "each sample of unit length" : "norms kept",
      f.detector_scores ? "times the detector score" : "no detector score",
      f.medium == Medium::ignored ? "mean over the samples"
      : f.medium == Medium::mean  ? "mean within a medium, sum over the media"
                                  : "sum within a medium of unit length, sum over the media"};
  if (!f.flip.empty()) out.push_back("flip " + f.flip);
  return out;
}

const Table<IjbScript>& ijb_scripts() {
  static const Table<IjbScript> table(
      "IJB script",
      {{"ijb_11", "insightface's ijb_11.py and its notebook: N1 keeps norms", true},
       {"eval_ijbc", "insightface's arcface_torch/eval_ijbc.py: N1 keeps norms", true},
       {"cvlface", "CVLface: N1 (Norm:True) keeps norms", true},
       {"ijb_evals", "insightface's ijb_evals.py and Keras_insightface: N1 takes norms away",
        false}});
  return table;
}

IjbLabel ijb_label(std::string_view label, std::string_view script) {
  const IjbScript& family = ijb_scripts().at(script);
  const auto is = [&](std::size_t at, char letter, std::string_view digits) {
    return label[at] == letter && digits.find(label[at + 1]) != std::string_view::npos;
  };
  if (label.size() != 6 || !is(0, 'N', "01") || !is(2, 'D', "01") || !is(4, 'F', "012"))
    throw std::invalid_argument(
        fmt::format("'{}' is not a label of an IJB script; they look like N1D1F1", label));
  const bool keeps = (label[1] == '1') == family.n1_keeps_norms;
  return {
      fmt::format("media_mean_sum_{}{}", keeps ? "raw" : "unit", label[3] == '1' ? "_scored" : ""),
      label[5] == '0' ? "none" : "sum"};
}

std::vector<double> fuse_template(const TemplateFusion& fusion, std::span<const float> samples,
                                  std::span<const std::int32_t> media,
                                  std::span<const float> scores) {
  const std::size_t n = media.size();
  if (n == 0 || samples.empty() || samples.size() % n != 0)
    throw std::invalid_argument(
        fmt::format("a template of {} samples with {} values", n, samples.size()));
  if (fusion.detector_scores && scores.size() != n)
    throw std::invalid_argument(fmt::format(
        "the fusion '{}' needs a detector score of each of {} samples, and there are {}",
        fusion.name, n, scores.size()));
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
    const double weight = fusion.detector_scores ? static_cast<double>(scores[i]) : 1.0;
    for (std::size_t k = 0; k < dim; ++k) m.sum[k] += weight * added[k];
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
