#include "facebench/metrics/calibration.h"

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
  m.def(
      "min_cllr_statistic",
      [](const std::shared_ptr<Comparisons>& c) { return min_cllr_statistic(c); },
      py::arg("comparisons").none(false), "The minimal Cllr, for the bootstrap.");
}

}  // namespace facebench
