#include "facebench/metrics/accuracy.h"

#include "facebench/metrics/centred_accuracy.h"

#include "metrics/embedding_rows.h"
#include "metrics/metrics.h"
#include "tables.h"

namespace facebench {
namespace {

std::string spread_name(Spread spread) {
  switch (spread) {
    case Spread::sd:
      return "sd";
    case Spread::population_sd:
      return "population_sd";
    case Spread::standard_error:
      return "standard_error";
    case Spread::none:
      break;
  }
  return "none";
}

}  // namespace

void bind_accuracy(py::module_& m) {
  ResultClass<Accuracy>(m, "Accuracy", "Accuracy by folds, thresholds chosen on the other folds.")
      .field("value", &Accuracy::value, "mean of the folds' accuracies")
      .field("folds", &Accuracy::folds, "the folds' numbers")
      .field("fold_accuracy", &Accuracy::fold_accuracy, "accuracy of each fold")
      .field("fold_threshold", &Accuracy::fold_threshold, "threshold of each fold, as a score")
      .field("sd", &Accuracy::sd, "standard deviation of the folds' accuracies, n - 1")
      .field("standard_error", &Accuracy::standard_error, "sd / sqrt(folds)")
      .field("spread", &Accuracy::spread, "what the convention prints behind the +-")
      .field("wrong", &Accuracy::wrong, "comparisons decided wrongly")
      .field("comparisons", &Accuracy::comparisons, "comparisons in all")
      .field("convention", &Accuracy::convention, "name in accuracy_conventions()");
  m.def(
      "accuracy",
      [](const Comparisons& c, const std::string& convention, const py::object& weights) {
        const auto w = whole_numbers<Weight>(weights, "weights");
        const WithoutGil without_gil;
        return accuracy(c, convention, w);
      },
      py::arg("comparisons"), py::arg("convention") = "exact", py::arg("weights") = py::none(),
      "Verification accuracy by folds: each fold's threshold is chosen on the other folds.\n\n"
      ">>> from facebench.metrics import accuracy\n"
      ">>> result = accuracy([0.9, 0.2, 0.8, 0.1, 0.7, 0.75], [1, 0, 1, 0, 1, 0], [0, 0, 1, 1, 2, "
      "2])\n"
      ">>> round(result.value, 4), result.wrong\n"
      "(0.8333, 1)");
  m.def(
      "accuracy",
      [](const py::object& scores, const py::object& labels, const py::object& folds,
         const std::string& convention, const py::object& weights) {
        const auto c = make_comparisons(scores, labels, folds);
        const auto w = whole_numbers<Weight>(weights, "weights");
        const WithoutGil without_gil;
        return accuracy(*c, convention, w);
      },
      py::arg("scores"), py::arg("labels"), py::arg("folds"), py::arg("convention") = "exact",
      py::arg("weights") = py::none());
  m.def(
      "accuracy_conventions",
      [] {
        return table_list(accuracy_conventions(), "source", &AccuracyConvention::source,
                          "cosine_only", &AccuracyConvention::cosine_only, "spread",
                          [](const AccuracyConvention& c) { return spread_name(c.spread); });
      },
      "The known conventions: name, doc, source, cosine_only, spread.\n\n"
      ">>> from facebench.metrics import accuracy_conventions\n"
      ">>> [c['name'] for c in accuracy_conventions()][:3]\n"
      "['exact', 'facenet', 'insightface']");
  m.def(
      "centred_accuracy",
      [](const py::object& first, const py::object& second, const py::object& labels,
         const py::object& folds, const std::string& convention) {
        const FloatRows a = float_rows(first, "first"), b = float_rows(second, "second");
        const auto l = whole_numbers<std::uint8_t>(labels, "labels");
        const auto f = whole_numbers<std::int32_t>(folds, "folds");
        const auto dim = static_cast<std::size_t>(a.shape(1));
        const WithoutGil without_gil;
        return centred_accuracy(view(a), view(b), dim, l, f, convention);
      },
      py::arg("first"), py::arg("second"), py::arg("labels"), py::arg("folds"),
      py::arg("convention") = "sphereface",
      "Accuracy of cosines of embeddings minus the mean of the training folds, as SphereFace and\n"
      "MagFace compute it. first, second: the two embeddings of each comparison, one a row.\n\n"
      ">>> from facebench.metrics import centred_accuracy\n"
      ">>> first = [[1.0, 0.1], [0.0, 1.0], [1.0, 0.0], [0.1, 1.0]]\n"
      ">>> second = [[0.9, 0.0], [1.0, 0.0], [1.0, 0.2], [0.9, 0.1]]\n"
      ">>> centred_accuracy(first, second, [1, 0, 1, 0], [0, 0, 1, 1]).value\n"
      "1.0");
}

}  // namespace facebench
