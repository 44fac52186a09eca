#include "facebench/metrics/fixed_threshold.h"

#include "metrics/metrics.h"

namespace facebench {

void bind_fixed_threshold(py::module_& m) {
  ResultClass<FixedThreshold>(
      m, "FixedThreshold", "Error rates at a threshold that was not chosen on these comparisons.")
      .field("threshold", &FixedThreshold::threshold, "accept score >= threshold")
      .field("fmr", &FixedThreshold::fmr, "false match rate; NaN without impostors")
      .field("fnmr", &FixedThreshold::fnmr, "false non-match rate; NaN without genuine ones")
      .field("false_matches", &FixedThreshold::false_matches, "impostor comparisons accepted")
      .field("false_non_matches", &FixedThreshold::false_non_matches,
             "genuine comparisons rejected")
      .field("genuine", &FixedThreshold::genuine, "genuine comparisons")
      .field("impostor", &FixedThreshold::impostor, "impostor comparisons")
      .field("fmr_interval", &FixedThreshold::fmr_interval, "wilson_fixed_threshold")
      .field("fnmr_interval", &FixedThreshold::fnmr_interval, "wilson_fixed_threshold");
  m.def("rates_at", &rates_at, py::arg("comparisons"), py::arg("threshold"),
        py::arg("level") = 0.95,
        "FMR and FNMR at a given threshold, with Wilson's intervals (independent comparisons).\n\n"
        ">>> from facebench.metrics import Comparisons, rates_at\n"
        ">>> rates = rates_at(Comparisons([0.9, 0.4, 0.6, 0.1], [1, 1, 0, 0]), 0.5)\n"
        ">>> rates.fmr, rates.fnmr, rates.fmr_interval.method\n"
        "(0.5, 0.5, 'wilson_fixed_threshold')");
  using Shared = std::shared_ptr<Comparisons>;
  m.def(
      "fmr_statistic", [](const Shared& c, double t) { return fmr_statistic(c, t); },
      py::arg("comparisons").none(false), py::arg("threshold"),
      "The FMR at a threshold, for the bootstrap.");
  m.def(
      "fnmr_statistic", [](const Shared& c, double t) { return fnmr_statistic(c, t); },
      py::arg("comparisons").none(false), py::arg("threshold"),
      "The FNMR at a threshold, for the bootstrap.");
}

}  // namespace facebench
