#include "facebench/backends/backend.h"

#include "facebench/backends/score_calibrator.h"
#include "facebench/backends/score_normalisation.h"

// After facebench's own, which says how Eigen aligns.
#include <pybind11/eigen.h>

#include "arrays.h"
#include "metrics/metrics.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

using Rows = MatrixRef<double>;

py::dict step_of(const FittedStep& step) {
  return dict_of(
      step, "name", [](const FittedStep& s) { return s.asked.name; }, "shrinkage",
      &FittedStep::shrinkage);
}

py::list steps_of(const py::object& self) {
  const auto& backend = self.cast<const Backend&>();
  py::list result;
  for (const FittedStep& step : backend.steps) {
    py::dict d = step_of(step);
    d["mean"] = view_of(self, step.mean.data(), {step.mean.size()});
    d["basis"] = step.basis.size() == 0
                     ? py::object(py::none())
                     : view_of(self, step.basis.data(), {step.basis.rows(), step.basis.cols()});
    result.append(d);
  }
  return result;
}

void bind_calibrator(py::module_& m) {
  ResultClass<ScoreCalibrator> calibrator(m, "ScoreCalibrator",
                                          "A rising map from scores to log likelihood ratios.");
  calibrator.field("method", &ScoreCalibrator::method, "see calibration_methods")
      .field("score", &ScoreCalibrator::score, "points, ascending")
      .field("llr", &ScoreCalibrator::llr, "natural-logarithm likelihood ratio at each")
      .field("slope", &ScoreCalibrator::slope, "beyond the first and the last point");
  calibrator.cls().def(
      "apply",
      [](const ScoreCalibrator& c, const py::object& scores) {
        std::vector<double> values = numbers(scores, "scores");
        for (double& v : values) v = c.apply(v);
        return to_numpy(std::move(values));
      },
      py::arg("scores"), "Natural-logarithm likelihood ratios of scores.");
  m.def("calibration_methods",
        [] { return table_list(calibration_methods(), "source", &CalibrationMethod::source); });
  m.def(
      "fit_calibrator",
      [](const py::object& scores, const py::object& labels, const std::string& method) {
        return fit_calibrator(*make_comparisons(scores, labels), method);
      },
      py::arg("scores"), py::arg("labels"), py::arg("method") = "logistic",
      "A map from scores of any unit to log likelihood ratios, fitted to these comparisons.\n\n"
      ">>> from facebench.metrics import fit_calibrator\n"
      ">>> c = fit_calibrator([1., 2., 1., 0.], [1, 1, 0, 0])\n"
      ">>> abs(round(float(c.apply([1.0])[0]), 6))\n"
      "0.0");
  m.def(
      "calibration_error_statistic",
      [](const std::shared_ptr<Comparisons>& c, double prior, int bins) {
        return calibration_error_statistic(c, prior, bins);
      },
      py::arg("comparisons").none(false), py::arg("prior") = 0.5, py::arg("bins") = 15,
      "The expected calibration error of likelihood ratios, for the bootstrap.");
}

}  // namespace

void bind_backends(py::module_& m) {
  bind_calibrator(m);
  m.def("backend_kinds", [] {
    return table_list(backend_kinds(), "source", &BackendKind::source, "takes", &BackendKind::takes,
                      "value", &BackendKind::value, "scores", &BackendKind::scores, "needs_people",
                      &BackendKind::people);
  });
  m.def("score_normalisations",
        [] { return table_list(score_normalisations(), "source", &NormalisationKind::source); });
  m.def(
      "backend_spec", [](const std::string& spec) { return backend_text(parse_backend(spec)); },
      py::arg("spec"), "The chain as it is kept: with the step that scores.");
  py::class_<Backend>(m, "FittedBackend", "A chain of steps, fitted: see facebench.backends.")
      .def_readonly("spec", &Backend::spec)
      .def_readonly("people", &Backend::people)
      .def_readonly("images", &Backend::images)
      .def_readonly("people_names", &Backend::people_names)
      .def_readonly("training_sha256", &Backend::training_sha256)
      .def_readonly("notes", &Backend::notes)
      .def_readonly("constant", &Backend::constant)
      .def_property_readonly("dim", &Backend::dim)
      .def_property_readonly("sha256", &backend_sha256)
      .def_property_readonly("steps", &steps_of, "name, shrinkage, mean, basis: views, no copies")
      .def_property_readonly("cross",
                             [](const py::object& self) {
                               const auto& b = self.cast<const Backend&>();
                               return view_of(self, b.cross.data(), {b.cross.size()});
                             })
      .def_property_readonly("square",
                             [](const py::object& self) {
                               const auto& b = self.cast<const Backend&>();
                               return view_of(self, b.square.data(), {b.square.size()});
                             })
      .def(
          "transform",
          [](const Backend& b, const Rows& rows, int threads) {
            return with_job(threads, py::none(),
                            [&](const Job& job) { return b.transform(rows, job); });
          },
          py::arg("rows"), py::arg("threads") = 0)
      .def(
          "score",
          [](const Backend& b, const Rows& first, const Rows& second, int threads) {
            return to_numpy(with_job(threads, py::none(),
                                     [&](const Job& job) { return b.score(first, second, job); }));
          },
          py::arg("a"), py::arg("b"), py::arg("threads") = 0)
      .def(
          "score_all",
          [](const Backend& b, const Rows& first, const Rows& second, int threads) {
            return with_job(threads, py::none(),
                            [&](const Job& job) { return b.score_all(first, second, job); });
          },
          py::arg("a"), py::arg("b"), py::arg("threads") = 0)
      .def(
          "normalised_scores",
          [](const Backend& b, const Rows& first, const Rows& second, const Rows& cohort,
             const std::string& text, int threads) {
            return to_numpy(with_job(threads, py::none(), [&](const Job& job) {
              if (first.rows() != second.rows())
                throw std::invalid_argument("as many rows on one side as on the other are needed");
              const Normalisation how = parse_normalisation(text);
              const BackendSide x = b.side(first, job), y = b.side(second, job);
              const BackendSide c = b.side(cohort, job);
              const CohortScores of_x = cohort_scores(b, x, c, how.top, job);
              const CohortScores of_y = cohort_scores(b, y, c, how.top, job);
              std::vector<double> scores;
              for (Eigen::Index i = 0; i < first.rows(); ++i)
                scores.push_back(normalised(how, b.score(x, i, y, i), of_x, i, of_y, i));
              return scores;
            }));
          },
          py::arg("a"), py::arg("b"), py::arg("cohort"), py::arg("normalise"),
          py::arg("threads") = 0)
      .def(
          "save", [](const Backend& b, const std::filesystem::path& p) { write_backend(p, b); },
          py::arg("path"));
  m.def("read_backend", &read_backend, py::arg("path"));
  m.def(
      "fit_backend",
      [](const std::string& spec, const Rows& rows, const std::vector<std::int32_t>& person,
         const std::vector<std::string>& names, int threads) {
        return with_job(threads, py::none(), [&](const Job& job) {
          return fit_backend(spec, rows, person, job, names);
        });
      },
      py::arg("spec"), py::arg("rows"), py::arg("person"), py::arg("names"),
      py::arg("threads") = 0);
  // The address of what C++ sees of an array: the caller's own memory, where it is float64 by rows.
  m.def(
      "matrix_address",
      [](const Rows& rows) { return reinterpret_cast<std::uintptr_t>(rows.data()); },
      py::arg("rows"));
}

}  // namespace facebench
