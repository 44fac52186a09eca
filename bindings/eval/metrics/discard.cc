#include "facebench/metrics/discard.h"

#include "metrics/metrics.h"

namespace facebench {

void bind_discard(py::module_& m) {
  bind_options<DiscardOptions>(m);
  ResultClass<DiscardArea>(m, "DiscardArea", "The partial area under a curve.")
      .field("limit", &DiscardArea::limit, "share of discards up to which it goes")
      .field("value", &DiscardArea::value, "mean FNMR up to there")
      .field("interval", &DiscardArea::interval, "draws people")
      .field("oracle", &DiscardArea::oracle, "of the best order; NaN where there is none")
      .field("gain", &DiscardArea::gain, "1 is the oracle, 0 is chance, below 0 is harm");
  ResultClass<DiscardMeasure>(m, "DiscardMeasure", "What a quality makes of the FNMR.")
      .field("name", &DiscardMeasure::name, "of the quality")
      .field("curve", &DiscardMeasure::curve, "a RejectCurve: shares are those of the discards")
      .field("areas", &DiscardMeasure::areas, "a DiscardArea for each limit");
  ResultClass<DiscardDifference>(m, "DiscardDifference", "Area of one quality less another's.")
      .field("first", &DiscardDifference::first, "number of a quality")
      .field("second", &DiscardDifference::second, "number of a quality")
      .field("limit", &DiscardDifference::limit, "of both areas")
      .field("paired", &DiscardDifference::paired, "below 0 where the first is better");
  ResultClass<DiscardResult>(m, "DiscardResult", "Error versus discard of several qualities.")
      .field("threshold", &DiscardResult::threshold, "before anything is discarded")
      .field("fnmr", &DiscardResult::fnmr, "there, and of random discards")
      .field("genuine", &DiscardResult::genuine, "genuine comparisons")
      .field("impostor", &DiscardResult::impostor, "impostor comparisons")
      .field("samples", &DiscardResult::samples, "samples that are compared")
      .field("measures", &DiscardResult::measures, "in the order of the qualities")
      .field("oracle", &DiscardResult::oracle, "empty where the threshold is chosen again")
      .field("differences", &DiscardResult::differences, "of every two qualities and each limit");
  m.def(
      "error_versus_discard",
      [](const py::object& scores, const py::object& labels, const py::object& first_sample,
         const py::object& second_sample, const py::object& person, const py::dict& qualities,
         const DiscardOptions& options, int threads, const py::object& progress) {
        const auto s = numbers(scores, "scores");
        const auto l = whole_numbers<std::uint8_t>(labels, "labels");
        const auto a = whole_numbers<std::int32_t>(first_sample, "first_sample");
        const auto b = whole_numbers<std::int32_t>(second_sample, "second_sample");
        const auto p = whole_numbers<std::int32_t>(person, "person");
        std::vector<SampleQuality> q;
        for (const auto& [name, values] : qualities)
          q.push_back(
              {py::str(name), numbers(py::reinterpret_borrow<py::object>(values), "qualities")});
        return with_job(threads, progress, [&](const Job& job) {
          return error_versus_discard({s, l, a, b, p}, q, options, job);
        });
      },
      py::arg("scores"), py::arg("labels"), py::arg("first_sample"), py::arg("second_sample"),
      py::arg("person"), py::arg("qualities"), py::arg("options") = DiscardOptions{},
      py::arg("threads") = 0, py::arg("progress") = py::none(),
      "The FNMR that remains when samples of low quality are left out.\n\n"
      "scores, labels, first_sample, second_sample: of the comparisons. person: of each sample.\n"
      "qualities: {name: values of each sample, higher = better}. Equal qualities go together.\n"
      "Sources: Grother & Tabassi, IEEE TPAMI 2007; Schlett et al., 2023.\n\n"
      ">>> from facebench.metrics import DiscardOptions, error_versus_discard\n"
      ">>> r = error_versus_discard([.2, .9, .8, .1], [1, 1, 1, 0], [0, 2, 4, 0], [1, 3, 5, 2],\n"
      "...                          [0, 0, 1, 1, 2, 2], {'q': [1, 5, 6, 6, 7, 8]},\n"
      "...                          DiscardOptions(threshold=.5))\n"
      ">>> [round(float(e), 3) for e in r.measures[0].curve.error], r.measures[0].areas[0].gain\n"
      "([0.333, 0.0, 0.0], nan)");
}

}  // namespace facebench
