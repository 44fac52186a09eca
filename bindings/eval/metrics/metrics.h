#pragma once

#include <memory>

#include "arrays.h"
#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/comparisons.h"
#include "result_class.h"

namespace facebench {

// One function a concept: each header of the metrics floor has its file here.
void bind_comparisons(py::module_& m);
void bind_roc(py::module_& m);
void bind_tar_at_far(py::module_& m);
void bind_accuracy(py::module_& m);
void bind_interval(py::module_& m);
void bind_summary(py::module_& m);
void bind_identification(py::module_& m);
void bind_all_pairs(py::module_& m);
void bind_calibration(py::module_& m);
void bind_reject(py::module_& m);
void bind_fixed_threshold(py::module_& m);
void bind_paired(py::module_& m);
void bind_group_rates(py::module_& m);
void bind_discard(py::module_& m);

std::shared_ptr<Comparisons> make_comparisons(const py::object& scores, const py::object& labels,
                                              const py::object& folds = py::none());

// One Statistic or a list of them; a Python function of the weights (a uint32 array) that returns a
// number is one, too.
std::vector<Statistic> as_statistics(const py::object& object);
// "components", "vertices" or "dyadic".
Resampling as_resampling(const std::string& name);

// f(Comparisons, weights) under both of its Python forms.
template <class F>
void def_metric(py::module_& m, const char* name, F f, const char* doc) {
  m.def(
      name,
      [f](const Comparisons& c, const py::object& weights) {
        const auto w = whole_numbers<Weight>(weights, "weights");
        const WithoutGil without_gil;
        return f(c, w);
      },
      py::arg("comparisons"), py::arg("weights") = py::none(), doc);
  m.def(
      name,
      [f](const py::object& scores, const py::object& labels, const py::object& weights) {
        const auto c = make_comparisons(scores, labels);
        const auto w = whole_numbers<Weight>(weights, "weights");
        const WithoutGil without_gil;
        return f(*c, w);
      },
      py::arg("scores"), py::arg("labels"), py::arg("weights") = py::none());
}

}  // namespace facebench
