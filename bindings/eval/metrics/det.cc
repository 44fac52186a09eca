#include "facebench/metrics/det.h"

#include "metrics/metrics.h"

namespace facebench {

void bind_det(py::module_& m) {
  ResultClass<DetCurve> curve(m, "DetCurve", "The ROC's points as error rates.");
  curve.field("threshold", &DetCurve::threshold, "accept score >= threshold; first inf")
      .field("fmr", &DetCurve::fmr, "false match rate")
      .field("fnmr", &DetCurve::fnmr, "false non-match rate");
  curve.cls().def("__len__", &DetCurve::size);
  ResultClass<FnmrAtFmr>(m, "FnmrAtFmr", "A false non-match rate at a false match rate.")
      .field("value", &FnmrAtFmr::value, "FNMR in [0, 1]")
      .field("fmr_target", &FnmrAtFmr::fmr_target, "the FMR asked for")
      .field("fmr_achieved", &FnmrAtFmr::fmr_achieved, "the FMR that the threshold gives")
      .field("false_matches", &FnmrAtFmr::false_matches, "impostor comparisons accepted")
      .field("expected_false_matches", &FnmrAtFmr::expected_false_matches, "fmr_target * impostor")
      .field("reliable", &FnmrAtFmr::reliable, "at least 10 false matches expected")
      .field("threshold", &FnmrAtFmr::threshold, "in the score's unit (mean over folds)")
      .field("false_non_matches", &FnmrAtFmr::false_non_matches, "genuine comparisons rejected")
      .field("genuine", &FnmrAtFmr::genuine, "genuine comparisons")
      .field("impostor", &FnmrAtFmr::impostor, "impostor comparisons")
      .field("convention", &FnmrAtFmr::convention, "name in tar_at_far_conventions()");
  def_metric(
      m, "det", [](const Comparisons& c, std::span<const Weight> w) { return det(c.roc(w)); },
      "The DET curve; plot normal_quantile of both rates for its usual axes.\n\n"
      ">>> from facebench.metrics import det\n"
      ">>> curve = det([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])\n"
      ">>> curve.fmr.tolist(), curve.fnmr.tolist()\n"
      "([0.0, 0.0, 0.5, 1.0], [1.0, 0.5, 0.0, 0.0])");
  m.def(
      "fnmr_at_fmr",
      [](const Comparisons& c, double fmr, const std::string& convention,
         const py::object& weights) {
        const auto w = whole_numbers<Weight>(weights, "weights");
        py::gil_scoped_release release;
        return fnmr_at_fmr(c, fmr, convention, w);
      },
      py::arg("comparisons"), py::arg("fmr"), py::arg("convention") = "exact",
      py::arg("weights") = py::none(),
      "tar_at_far() in the names of ISO/IEC 19795-1: false non-match rate at a false match "
      "rate.\n\n"
      ">>> from facebench.metrics import Comparisons, fnmr_at_fmr\n"
      ">>> fnmr_at_fmr(Comparisons([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0]), fmr=0.1).value\n"
      "0.5");
  m.def("normal_quantile", &normal_quantile, py::arg("p"),
        "The standard normal quantile (probit), p in (0, 1).\n\n"
        ">>> from facebench.metrics import normal_quantile\n"
        ">>> round(normal_quantile(0.975), 6)\n"
        "1.959964");
}

}  // namespace facebench
