#include "facebench/metrics/bootstrap.h"

#include "facebench/core/registry.h"

#include "metrics/metrics.h"

namespace facebench {
namespace {

// A Statistic, or a Python function of the weights (a uint32 array) that returns a number.
Statistic as_statistic(const py::object& object) {
  if (py::isinstance<Statistic>(object)) return object.cast<Statistic>();
  if (!PyCallable_Check(object.ptr()))
    throw py::type_error("a statistic is a Statistic or a function of the weights");
  // Workers drop their copies without the GIL: the reference is released under it.
  std::shared_ptr<py::object> function(new py::object(object), [](py::object* p) {
    py::gil_scoped_acquire gil;
    delete p;
  });
  const std::string name = py::hasattr(object, "__name__")
                               ? object.attr("__name__").cast<std::string>()
                               : std::string("function");
  return {name, [function](std::span<const Weight> weights) {
            py::gil_scoped_acquire gil;
            const py::array_t<Weight> copy(static_cast<py::ssize_t>(weights.size()),
                                           weights.data());
            const py::object value = (*function)(copy);
            try {
              return value.cast<double>();
            } catch (const py::cast_error&) {
              throw py::type_error("a statistic must return a number, not " +
                                   std::string(Py_TYPE(value.ptr())->tp_name));
            }
          }};
}

bool is_list(const py::object& object) {
  return py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object);
}

void def_bootstrap(py::module_& m, const char* name, Resampling resampling, const char* doc) {
  m.def(
      name,
      [resampling](const py::object& statistics, const py::object& first, const py::object& second,
                   const py::object& folds, const BootstrapOptions& options, int threads,
                   const py::object& progress) -> py::object {
        const bool many = is_list(statistics);
        const std::vector<Statistic> list = as_statistics(statistics);
        const auto a = whole_numbers<std::int32_t>(first, "first");
        const auto b = whole_numbers<std::int32_t>(second, "second");
        const auto f = whole_numbers<std::int32_t>(folds, "folds");
        std::vector<Interval> result = with_job(threads, progress, [&](const Job& job) {
          return Bootstrap({a, b, f}, resampling).intervals(list, options, job);
        });
        return many ? py::cast(result) : py::cast(result.front());
      },
      py::arg("statistics"), py::arg("first"), py::arg("second"), py::arg("folds") = py::none(),
      py::kw_only(), py::arg("options") = BootstrapOptions{}, py::arg("threads") = 0,
      py::arg("progress") = py::none(), doc);
}

}  // namespace

std::vector<Statistic> as_statistics(const py::object& object) {
  if (!is_list(object)) return {as_statistic(object)};
  std::vector<Statistic> list;
  for (const auto& s : object) list.push_back(as_statistic(py::reinterpret_borrow<py::object>(s)));
  return list;
}

Resampling as_resampling(const std::string& name) {
  static const std::vector<std::string> names{"components", "vertices", "dyadic"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<Resampling>(i);
  throw py::value_error(unknown_name_message("resampling", name, names));
}

static void bind_statistics(py::module_& m) {
  py::class_<Statistic>(m, "Statistic", "A number computed from weighted comparisons.")
      .def_readonly("name", &Statistic::name)
      .def(
          "__call__",
          [](const Statistic& s, const py::object& weights) {
            const auto w = whole_numbers<Weight>(weights, "weights");
            return s.evaluate(w);
          },
          py::arg("weights"))
      .def("__repr__", [](const Statistic& s) { return fmt::format("Statistic('{}')", s.name); });
  using Shared = std::shared_ptr<Comparisons>;
  m.def(
      "auc_statistic", [](const Shared& c) { return auc_statistic(c); },
      py::arg("comparisons").none(false), "The AUC, for the bootstrap.");
  m.def(
      "eer_statistic", [](const Shared& c) { return eer_statistic(c); },
      py::arg("comparisons").none(false), "The EER, for the bootstrap.");
  m.def(
      "tar_at_far_statistic",
      [](const Shared& c, double far, const std::string& convention) {
        return tar_at_far_statistic(c, far, convention);
      },
      py::arg("comparisons").none(false), py::arg("far"), py::arg("convention") = "exact",
      "The TAR at a FAR, threshold chosen again in each replicate.");
  m.def(
      "accuracy_statistic",
      [](const Shared& c, const std::string& convention) {
        return accuracy_statistic(c, convention);
      },
      py::arg("comparisons").none(false), py::arg("convention") = "exact",
      "The accuracy by folds, thresholds chosen again in each replicate.");
}

void bind_interval(py::module_& m) {
  ResultClass<Interval>(m, "Interval", "A confidence interval.")
      .field("low", &Interval::low, "lower bound")
      .field("high", &Interval::high, "upper bound")
      .field("level", &Interval::level, "confidence level")
      .field("method", &Interval::method, "how it was computed")
      .field("replicates", &Interval::replicates, "replicates of a bootstrap")
      .field("undefined", &Interval::undefined, "replicates in which the statistic is undefined")
      .field("note", &Interval::note,
             "what the level does not say; empty where it is meant as it is");
  m.def("wilson", &wilson, py::arg("k"), py::arg("n"), py::arg("level") = 0.95,
        "Wilson's interval for k successes in n independent trials (a fixed threshold).\n\n"
        ">>> from facebench.metrics import wilson\n"
        ">>> interval = wilson(9, 10)\n"
        ">>> round(interval.low, 3), round(interval.high, 3)\n"
        "(0.596, 0.982)");
  bind_options<BootstrapOptions>(m);
  bind_statistics(m);

  ResultClass<Components>(m, "Components", "Connected components of the comparisons, per fold.")
      .field("of_comparison", &Components::of_comparison, "component of each comparison")
      .field("fold", &Components::fold, "fold of each component, numbered from 0")
      .field("identities", &Components::identities, "distinct identities")
      .field("largest", &Components::largest, "comparisons in the largest component");
  m.def(
      "connected_components",
      [](const py::object& first, const py::object& second, const py::object& folds) {
        const auto a = whole_numbers<std::int32_t>(first, "first");
        const auto b = whole_numbers<std::int32_t>(second, "second");
        const auto f = whole_numbers<std::int32_t>(folds, "folds");
        return connected_components({a, b, f});
      },
      py::arg("first"), py::arg("second"), py::arg("folds") = py::none(),
      "Components of the identity graph (identities joined by comparisons) within each fold.\n\n"
      ">>> from facebench._eval import connected_components\n"
      ">>> connected_components([0, 1, 2], [1, 1, 3]).of_comparison.tolist()\n"
      "[0, 0, 1]");
  def_bootstrap(
      m, "component_bootstrap", Resampling::components,
      "Interval for sparse lists whose folds share nobody (LFW), as earlier versions made it:\n"
      "resamples, within folds, the connected components of the identity graph.\n\n"
      "statistics: one Statistic, or a list (one interval each, from the same replicates);\n"
      "a Python function of the weights works too. first, second: identity numbers of each\n"
      "comparison. The same bits for any number of threads.\n\n"
      ">>> from facebench._eval import auc_statistic, component_bootstrap\n"
      ">>> from facebench.metrics import Comparisons\n"
      ">>> c = Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])\n"
      ">>> i = component_bootstrap(auc_statistic(c), [0, 1, 2, 4], [0, 1, 3, 5])\n"
      ">>> i.method, 0 <= i.low <= 0.75 <= i.high <= 1\n"
      "('component_bootstrap_logit_t_within_wilson', True)");
  def_bootstrap(
      m, "vertex_bootstrap", Resampling::vertices,
      "Interval for dense comparisons (all pairs), as earlier versions made it: resamples\n"
      "identities; normal on the logit scale; too long for sparse lists. Arguments as for\n"
      "component_bootstrap; folds are not used.\n\n"
      ">>> from facebench._eval import auc_statistic, vertex_bootstrap\n"
      ">>> from facebench.metrics import Comparisons\n"
      ">>> c = Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.2], [1, 1, 1, 0, 0, 0])\n"
      ">>> i = vertex_bootstrap(auc_statistic(c), [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2])\n"
      ">>> i.method\n"
      "'vertex_bootstrap_logit_within_wilson'");
  def_bootstrap(
      m, "dyadic_bootstrap", Resampling::dyadic,
      "Interval for any comparisons, sparse or dense, whoever is shared: each person counts twice\n"
      "or not at all, in opposed pairs of replicates. Student's t on the logit scale. Arguments "
      "as\n"
      "for component_bootstrap; folds are not used.\n\n"
      ">>> from facebench._eval import auc_statistic\n"
      ">>> from facebench.metrics import Comparisons, dyadic_bootstrap\n"
      ">>> c = Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.2], [1, 1, 1, 0, 0, 0])\n"
      ">>> i = dyadic_bootstrap(auc_statistic(c), [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2])\n"
      ">>> i.method\n"
      "'dyadic_bootstrap_logit_t'");
}

}  // namespace facebench
