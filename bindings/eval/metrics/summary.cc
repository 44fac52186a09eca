#include "facebench/metrics/summary.h"

#include "metrics/metrics.h"

namespace facebench {

void bind_summary(py::module_& m) {
  ResultClass<Moments>(m, "Moments", "Count, mean and standard deviation (n - 1).")
      .field("count", &Moments::count, "number of values")
      .field("mean", &Moments::mean, "mean")
      .field("sd", &Moments::sd, "standard deviation, n - 1");
  ResultClass<ScoreSummary>(m, "ScoreSummary", "The two score distributions at a glance.")
      .field("genuine", &ScoreSummary::genuine, "moments of the genuine scores")
      .field("impostor", &ScoreSummary::impostor, "moments of the impostor scores")
      .field("dprime", &ScoreSummary::dprime, "d'");
  ResultClass<ScoreHistogram>(m, "ScoreHistogram", "Counts of both classes by score.")
      .field("edges", &ScoreHistogram::edges, "bins + 1 edges")
      .field("genuine", &ScoreHistogram::genuine, "genuine comparisons in each bin")
      .field("impostor", &ScoreHistogram::impostor, "impostor comparisons in each bin");
  const auto with_both = [](auto f) {
    return [f](const py::object& scores, const py::object& labels) {
      const auto s = numbers(scores, "scores");
      const auto l = whole_numbers<std::uint8_t>(labels, "labels");
      const WithoutGil without_gil;
      return f(s, l);
    };
  };
  m.def("summarize", with_both([](const auto& s, const auto& l) { return summarize(s, l); }),
        py::arg("scores"), py::arg("labels"), "Moments of both classes, and d'.");
  m.def("dprime", with_both([](const auto& s, const auto& l) { return summarize(s, l).dprime; }),
        py::arg("scores"), py::arg("labels"),
        "d' = (mean genuine - mean impostor) / sqrt(mean of the two variances).\n\n"
        ">>> from facebench.metrics import dprime\n"
        ">>> dprime([3, 5, 0, 2], [1, 1, 0, 0])\n"
        "2.1213203435596424");
  m.def(
      "histogram",
      [](const py::object& scores, const py::object& labels, int bins) {
        const auto s = numbers(scores, "scores");
        const auto l = whole_numbers<std::uint8_t>(labels, "labels");
        const WithoutGil without_gil;
        return histogram(s, l, bins);
      },
      py::arg("scores"), py::arg("labels"), py::arg("bins") = 100,
      "Counts of both classes in equal bins from the lowest to the highest score.");
}

}  // namespace facebench
