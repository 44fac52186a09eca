#include "facebench/metrics/roc.h"

#include "metrics/metrics.h"

namespace facebench {

void bind_roc(py::module_& m) {
  ResultClass<RocCurve> curve(
      m, "RocCurve",
      "Exact ROC points: one for each distinct score, after a first one that accepts nothing.");
  curve.field("threshold", &RocCurve::threshold, "accept score >= threshold; descending, first inf")
      .field("true_accepts", &RocCurve::true_accepts, "genuine comparisons accepted")
      .field("false_accepts", &RocCurve::false_accepts, "impostor comparisons accepted")
      .field("genuine", &RocCurve::genuine, "genuine comparisons")
      .field("impostor", &RocCurve::impostor, "impostor comparisons");
  curve.cls()
      .def_property_readonly(
          "tpr", [](const RocCurve& c) { return to_numpy(c.tpr()); },
          "true accept rate at each point")
      .def_property_readonly(
          "fpr", [](const RocCurve& c) { return to_numpy(c.fpr()); },
          "false accept rate at each point")
      .def_property_readonly(
          "fnr", [](const RocCurve& c) { return to_numpy(c.fnr()); },
          "1 - tpr; with fpr the points of the DET curve")
      .def("__len__", &RocCurve::size);

  def_metric(
      m, "roc", [](const Comparisons& c, std::span<const Weight> w) { return c.roc(w); },
      "The ROC as exact counts, ties grouped, nothing dropped.\n\n"
      ">>> from facebench.metrics import roc\n"
      ">>> curve = roc([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])\n"
      ">>> curve.true_accepts.tolist(), curve.false_accepts.tolist()\n"
      "([0, 1, 2, 2], [0, 0, 1, 2])");
  def_metric(
      m, "auc", [](const Comparisons& c, std::span<const Weight> w) { return auc(c.roc(w)); },
      "Area under the ROC curve: P(genuine > impostor), ties one half.\n\n"
      ">>> from facebench.metrics import auc\n"
      ">>> auc([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])\n"
      "0.875");
  def_metric(
      m, "eer", [](const Comparisons& c, std::span<const Weight> w) { return eer(c.roc(w)); },
      "Equal error rate, linear between neighbouring exact ROC points.\n\n"
      ">>> from facebench.metrics import eer\n"
      ">>> eer([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0])\n"
      "0.5");

  ResultClass<DetCurve> errors(m, "DetCurve", "The ROC's points as error rates.");
  errors.field("threshold", &DetCurve::threshold, "accept score >= threshold; first inf")
      .field("fmr", &DetCurve::fmr, "false match rate")
      .field("fnmr", &DetCurve::fnmr, "false non-match rate");
  errors.cls().def("__len__", &DetCurve::size);
  def_metric(
      m, "det", [](const Comparisons& c, std::span<const Weight> w) { return det(c.roc(w)); },
      "The DET curve; plot normal_quantile of both rates for its usual axes.\n\n"
      ">>> from facebench.metrics import det\n"
      ">>> curve = det([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])\n"
      ">>> curve.fmr.tolist(), curve.fnmr.tolist()\n"
      "([0.0, 0.0, 0.5, 1.0], [1.0, 0.5, 0.0, 0.0])");
  m.def("normal_quantile", &normal_quantile, py::arg("p"),
        "The standard normal quantile (probit), p in (0, 1).\n\n"
        ">>> from facebench._eval import normal_quantile\n"
        ">>> round(normal_quantile(0.975), 6)\n"
        "1.959964");
}

}  // namespace facebench
