#include "facebench/metrics/calibration.h"

#include "facebench/metrics/recommended_threshold.h"
#include "facebench/metrics/vertex_model.h"
#include "metrics/metrics.h"

namespace facebench {

void bind_calibration(py::module_& m) {
  def_metric(
      m, "cllr", [](const Comparisons& c, std::span<const Weight> w) { return cllr(c, w); },
      "Cost of log-likelihood ratios in bits: 0 perfect, 1 no evidence, above 1 misleading.\n\n"
      "scores: natural-logarithm likelihood ratios; for cosines use min_cllr.\n\n"
      ">>> from facebench.metrics import cllr\n"
      ">>> cllr([0.0, 0.0], [1, 0])\n"
      "1.0");
  def_metric(
      m, "min_cllr",
      [](const Comparisons& c, std::span<const Weight> w) { return min_cllr(c.roc(w)); },
      "The lowest Cllr of any rising transformation of the scores (any unit), by PAV.\n\n"
      ">>> from facebench.metrics import min_cllr\n"
      ">>> min_cllr([0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0])\n"
      "0.0");
  ResultClass<RecommendedThreshold>(m, "RecommendedThreshold", "A threshold for a wanted FMR.")
      .field("fmr", &RecommendedThreshold::fmr, "what was wanted")
      .field("threshold", &RecommendedThreshold::threshold, "accept score >= threshold")
      .field("false_matches", &RecommendedThreshold::false_matches, "there")
      .field("expected_false_matches", &RecommendedThreshold::expected_false_matches, "")
      .field("reliable", &RecommendedThreshold::reliable, "at least ten are expected")
      .field("safe", &RecommendedThreshold::safe, "its FMR is bounded by what was wanted, or None")
      .field("safe_false_matches", &RecommendedThreshold::safe_false_matches, "there")
      .field("least_bound", &RecommendedThreshold::least_bound, "without a false match")
      .field("level", &RecommendedThreshold::level, "of the bound, one-sided");
  m.def(
      "recommend_threshold",
      [](const py::object& scores, const py::object& labels, const py::object& first,
         const py::object& second, double fmr, const BootstrapOptions& options, int threads) {
        const auto c = make_comparisons(scores, labels);
        const auto a = whole_numbers<std::int32_t>(first, "first");
        const auto b = whole_numbers<std::int32_t>(second, "second");
        return with_job(threads, py::none(), [&](const Job& job) {
          return recommend_threshold(c, {a, b, {}}, fmr, options, job);
        });
      },
      py::arg("scores"), py::arg("labels"), py::arg("first"), py::arg("second"), py::arg("fmr"),
      py::arg("options") = BootstrapOptions{}, py::arg("threads") = 0,
      "The threshold for an FMR, and one whose FMR keeps to it by a one-sided bound.\n\n"
      "first, second: numbers of the people behind each comparison.");
  ResultClass<VertexModel>(m, "VertexModel", "What an error rate says when people are shared.")
      .field("rate", &VertexModel::rate, "errors over comparisons")
      .field("comparisons", &VertexModel::comparisons, "how many")
      .field("people", &VertexModel::people, "behind them")
      .field("shared", &VertexModel::shared, "ordered pairs of comparisons that share a person")
      .field("correlation", &VertexModel::correlation, "of the errors of such two")
      .field("effective", &VertexModel::effective, "independent comparisons that say as much");
  m.def(
      "fit_vertex_model",
      [](const py::object& wrong, const py::object& first, const py::object& second) {
        const auto w = whole_numbers<std::uint8_t>(wrong, "wrong");
        return fit_vertex_model(w, whole_numbers<std::int32_t>(first, "first"),
                                whole_numbers<std::int32_t>(second, "second"));
      },
      py::arg("wrong"), py::arg("first"), py::arg("second"),
      "How errors of comparisons that share a person correlate.\n\n"
      ">>> from facebench._eval import fit_vertex_model\n"
      ">>> fit_vertex_model([1, 1, 0, 0], [0, 0, 2, 3], [1, 4, 5, 6]).effective\n"
      "2.6666666666666665");
  m.def("people_for_all_pairs", &people_for_all_pairs, py::arg("effective"), py::arg("correlation"),
        "People of whom every two are compared to count as so many independent comparisons.");
  m.def(
      "min_cllr_statistic",
      [](const std::shared_ptr<Comparisons>& c) { return min_cllr_statistic(c); },
      py::arg("comparisons").none(false), "The minimal Cllr, for the bootstrap.");
}

}  // namespace facebench
