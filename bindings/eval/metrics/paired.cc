#include "facebench/metrics/paired.h"

#include "metrics/metrics.h"

namespace facebench {

void bind_paired(py::module_& m) {
  ResultClass<PairedComparison>(m, "PairedComparison",
                                "Two systems on the same comparisons: a - b of one number.")
      .field("value", &PairedComparison::value, "a - b")
      .field("a", &PairedComparison::a, "of the first system")
      .field("b", &PairedComparison::b, "of the second system")
      .field("sd", &PairedComparison::sd, "of the difference, over draws")
      .field("differing", &PairedComparison::differing,
             "people, or pairs of people, that the systems differ on")
      .field("interval", &PairedComparison::interval, "of the difference")
      .field("p_value", &PairedComparison::p_value, "two-sided, that they do not differ")
      .field("no_interval", &PairedComparison::no_interval, "why there is none, or empty");
  m.def(
      "compare_paired",
      [](const py::object& a, const py::object& b, const py::object& first,
         const py::object& second, const py::object& folds, const std::string& resampling,
         const BootstrapOptions& options, int threads, const py::object& progress) -> py::object {
        const bool many = py::isinstance<py::list>(a) || py::isinstance<py::tuple>(a);
        const auto of_a = as_statistics(a), of_b = as_statistics(b);
        const Resampling how = as_resampling(resampling);
        const auto i = whole_numbers<std::int32_t>(first, "first");
        const auto j = whole_numbers<std::int32_t>(second, "second");
        const auto f = whole_numbers<std::int32_t>(folds, "folds");
        auto result = with_job(threads, progress, [&](const Job& job) {
          const Bootstrap bootstrap({i, j, f}, how);
          return compare_paired(bootstrap, of_a, bootstrap, of_b, options, job);
        });
        return many ? py::cast(result) : py::cast(result.at(0));
      },
      py::arg("a"), py::arg("b"), py::arg("first"), py::arg("second"),
      py::arg("folds") = py::none(), py::kw_only(), py::arg("resampling") = "dyadic",
      py::arg("options") = BootstrapOptions{}, py::arg("threads") = 0,
      py::arg("progress") = py::none(),
      "Difference of two systems on the same comparisons, with its interval and p-value.\n\n"
      "Where the systems differ on few people the bounds and the p-value are exact\n"
      "(docs/metrics.md); both are NaN where ``no_interval`` says why.\n\n"
      "a, b: a Statistic of each system (or lists, pair by pair) over the same comparisons in the\n"
      "same order. first, second, folds: as for component_bootstrap. resampling: 'dyadic',\n"
      "'components' or 'vertices'.\n\n"
      ">>> from facebench._eval import auc_statistic\n"
      ">>> from facebench.metrics import Comparisons, compare_paired\n"
      ">>> labels, people = [1, 1, 0, 0, 1, 0], [0, 1, 2, 4, 6, 7]\n"
      ">>> a = auc_statistic(Comparisons([0.9, 0.3, 0.4, 0.1, 0.5, 0.2], labels))\n"
      ">>> b = auc_statistic(Comparisons([0.9, 0.3, 0.4, 0.1, 0.5, 0.2], labels))\n"
      ">>> d = compare_paired(a, b, people, [0, 1, 3, 5, 6, 8], resampling='components')\n"
      ">>> d.value, d.p_value\n"
      "(0.0, 1.0)");
}

}  // namespace facebench
