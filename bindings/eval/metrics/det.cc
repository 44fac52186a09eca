#include "facebench/metrics/det.h"

#include "metrics/metrics.h"

namespace facebench {

void bind_det(py::module_& m) {
  ResultClass<DetCurve> curve(m, "DetCurve", "The ROC's points as error rates.");
  curve.field("threshold", &DetCurve::threshold, "accept score >= threshold; first inf")
      .field("fmr", &DetCurve::fmr, "false match rate")
      .field("fnmr", &DetCurve::fnmr, "false non-match rate");
  curve.cls().def("__len__", &DetCurve::size);
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
