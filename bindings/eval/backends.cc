#include "facebench/backends/backend.h"

#include "facebench/backends/score_normalisation.h"

// After facebench's own, which says how Eigen aligns.
#include <pybind11/eigen.h>

#include "arrays.h"
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

}  // namespace

void bind_backends(py::module_& m) {
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
