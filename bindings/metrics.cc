#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "common.h"
#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/interval.h"
#include "facebench/metrics/roc.h"
#include "facebench/metrics/summary.h"
#include "facebench/metrics/tar_at_far.h"
#include "modules.h"

namespace facebench {
namespace {

// Anything that numpy can see as an array: arrays, lists, whatever has __array__ or __dlpack__.
py::array as_array(const py::object& values, const char* name) {
  const py::module_ numpy = py::module_::import("numpy");
  const bool dlpack_only = py::hasattr(values, "__dlpack__") && !py::hasattr(values, "__array__");
  py::array array = dlpack_only ? numpy.attr("from_dlpack")(values) : numpy.attr("asarray")(values);
  if (array.ndim() != 1)
    throw py::value_error(
        fmt::format("{} has {} dimensions; it must have one", name, array.ndim()));
  return array;
}

std::vector<double> numbers(const py::object& values, const char* name) {
  const py::array array = as_array(values, name);
  if (array.size() > 0 && !std::strchr("fiub", array.dtype().kind()))
    throw py::type_error(fmt::format("{} must be real numbers, not dtype {}", name,
                                     std::string(py::str(array.dtype()))));
  const auto typed = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!typed) throw py::error_already_set();
  return {typed.data(), typed.data() + typed.size()};
}

// Whole numbers in the range of T; numpy's own conversion would wrap 257 to 1.
template <class T>
std::vector<T> whole_numbers(const py::object& values, const char* name) {
  if (values.is_none()) return {};
  std::vector<T> result;
  std::size_t i = 0;
  for (const double v : numbers(values, name)) {
    if (!(v >= static_cast<double>(std::numeric_limits<T>::min()) &&
          v <= static_cast<double>(std::numeric_limits<T>::max()) && v == std::floor(v)))
      throw py::value_error(fmt::format(
          "{} [{}] is {}, which is not a whole number in the allowed range", name, i, v));
    result.push_back(static_cast<T>(v));
    ++i;
  }
  return result;
}

std::shared_ptr<Comparisons> make_comparisons(const py::object& scores, const py::object& labels,
                                              const py::object& folds = py::none()) {
  const auto s = numbers(scores, "scores");
  const auto l = whole_numbers<std::uint8_t>(labels, "labels");
  const auto f = whole_numbers<std::int32_t>(folds, "folds");
  py::gil_scoped_release release;
  return std::make_shared<Comparisons>(s, l, f);
}

// A result struct as a read-only Python class with repr, equality, to_dict() and pickle. Vectors of
// numbers show as read-only numpy views.
template <class T>
class ResultClass {
 public:
  ResultClass(py::module_& m, const char* name, const char* doc)
      : fields_(std::make_shared<std::vector<Field>>()), class_(m, name, doc) {
    const auto fields = fields_;
    const auto to_dict = [fields](const py::object& self) {
      py::dict d;
      for (const Field& f : *fields) d[py::str(f.name)] = f.get(self);
      return d;
    };
    class_.def("to_dict", to_dict, "All fields as a dict.");
    class_.def("__repr__", [fields, name = std::string(name)](const py::object& self) {
      std::vector<std::string> parts;
      for (const Field& f : *fields) {
        py::object value = f.get(self);
        if (py::isinstance<py::array>(value) && py::len(value) <= 16)
          value = value.attr("tolist")();
        parts.push_back(py::isinstance<py::array>(value)
                            ? fmt::format("{}=<{} numbers>", f.name, py::len(value))
                            : fmt::format("{}={}", f.name, std::string(py::repr(value))));
      }
      return fmt::format("{}({})", name, fmt::join(parts, ", "));
    });
    class_.def("__eq__", [fields](const py::object& self, const py::object& other) {
      if (!py::isinstance<T>(other)) return false;
      const py::object same = py::module_::import("numpy").attr("array_equal");
      const auto is_nan = [](const py::object& o) {
        return py::isinstance<py::float_>(o) && std::isnan(o.cast<double>());
      };
      for (const Field& f : *fields) {
        const py::object a = f.get(self), b = f.get(other);
        const bool equal = py::isinstance<py::array>(a) ? same(a, b).cast<bool>()
                                                        : a.equal(b) || (is_nan(a) && is_nan(b));
        if (!equal) return false;
      }
      return true;
    });
    class_.attr("__hash__") = py::none();
    class_.def(py::pickle(to_dict, [fields](const py::dict& state) {
      T result{};
      for (const Field& f : *fields) f.set(result, state[py::str(f.name)]);
      return result;
    }));
  }

  template <class M>
  ResultClass& field(const char* name, M T::*member, const char* doc) {
    const auto get = [member](const py::object& self) -> py::object {
      const M& value = self.cast<const T&>().*member;
      if constexpr (is_vector<M>::value) {
        py::array_t<typename M::value_type> view(static_cast<py::ssize_t>(value.size()),
                                                 value.data(), self);
        view.attr("setflags")(py::arg("write") = false);
        return view;
      } else {
        return py::cast(value);
      }
    };
    fields_->push_back({name, get, [member](T& object, const py::object& value) {
                          object.*member = value.cast<M>();
                        }});
    class_.def_property_readonly(name, get, doc);
    return *this;
  }

  py::class_<T>& cls() { return class_; }

 private:
  template <class M>
  struct is_vector : std::false_type {};
  template <class E>
  struct is_vector<std::vector<E>> : std::is_arithmetic<E> {};

  struct Field {
    std::string name;
    std::function<py::object(const py::object&)> get;
    std::function<void(T&, const py::object&)> set;
  };
  std::shared_ptr<std::vector<Field>> fields_;
  py::class_<T> class_;
};

// f(Comparisons, weights) under both of its Python forms.
template <class F>
void def_metric(py::module_& m, const char* name, F f, const char* doc) {
  m.def(
      name,
      [f](const Comparisons& c, const py::object& weights) {
        const auto w = whole_numbers<Weight>(weights, "weights");
        py::gil_scoped_release release;
        return f(c, w);
      },
      py::arg("comparisons"), py::arg("weights") = py::none(), doc);
  m.def(
      name,
      [f](const py::object& scores, const py::object& labels, const py::object& weights) {
        const auto c = make_comparisons(scores, labels);
        const auto w = whole_numbers<Weight>(weights, "weights");
        py::gil_scoped_release release;
        return f(*c, w);
      },
      py::arg("scores"), py::arg("labels"), py::arg("weights") = py::none());
}

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
            return (*function)(copy).cast<double>();
          }};
}

using Bootstrap = std::vector<Interval> (*)(const ComparisonGraph&, std::span<const Statistic>,
                                            const BootstrapOptions&, const Job&);

void def_bootstrap(py::module_& m, const char* name, Bootstrap bootstrap, const char* doc) {
  m.def(
      name,
      [bootstrap](const py::object& statistics, const py::object& first, const py::object& second,
                  const py::object& folds, const BootstrapOptions& options, int threads,
                  const py::object& progress) -> py::object {
        const bool many =
            py::isinstance<py::list>(statistics) || py::isinstance<py::tuple>(statistics);
        std::vector<Statistic> list;
        if (many)
          for (const auto& s : statistics)
            list.push_back(as_statistic(py::reinterpret_borrow<py::object>(s)));
        else
          list.push_back(as_statistic(statistics));
        const auto a = whole_numbers<std::int32_t>(first, "first");
        const auto b = whole_numbers<std::int32_t>(second, "second");
        const auto f = whole_numbers<std::int32_t>(folds, "folds");
        std::vector<Interval> result = with_job(threads, progress, [&](const Job& job) {
          return bootstrap({a, b, f}, list, options, job);
        });
        return many ? py::cast(result) : py::cast(result.front());
      },
      py::arg("statistics"), py::arg("first"), py::arg("second"), py::arg("folds") = py::none(),
      py::kw_only(), py::arg("options") = BootstrapOptions{}, py::arg("threads") = 0,
      py::arg("progress") = py::none(), doc);
}

void bind_comparisons(py::module_& m) {
  py::class_<Comparisons, std::shared_ptr<Comparisons>>(
      m, "Comparisons",
      "Comparisons checked and sorted once, for several metrics and for the bootstrap.\n\n"
      "scores: similarities (higher = more alike), finite. labels: 1 genuine, 0 impostor. folds:\n"
      "any whole numbers. Arrays of any number type, lists, torch tensors, DLPack. ValueError "
      "names\n"
      "the first index at fault.\n\n"
      ">>> from facebench.metrics import Comparisons\n"
      ">>> Comparisons([0.9, 0.2, 0.4], [1, 0, 0])\n"
      "Comparisons(genuine=1, impostor=2, folds=0)")
      .def(py::init(&make_comparisons), py::arg("scores"), py::arg("labels"),
           py::arg("folds") = py::none())
      .def("__len__", &Comparisons::size)
      .def_property_readonly("genuine", &Comparisons::genuine)
      .def_property_readonly("impostor", &Comparisons::impostor)
      .def_property_readonly("fold_count", &Comparisons::fold_count)
      .def("__repr__", [](const Comparisons& c) {
        return fmt::format("Comparisons(genuine={}, impostor={}, folds={})", c.genuine(),
                           c.impostor(), c.fold_count());
      });
}

void bind_roc(py::module_& m) {
  ResultClass<RocCurve> curve(
      m, "RocCurve",
      "Exact ROC points: one for each distinct score, after a first one that accepts nothing.");
  curve.field("threshold", &RocCurve::threshold, "accept score >= threshold; descending, first inf")
      .field("true_accepts", &RocCurve::true_accepts, "genuine comparisons accepted")
      .field("false_accepts", &RocCurve::false_accepts, "impostor comparisons accepted")
      .field("genuine", &RocCurve::genuine, "genuine comparisons")
      .field("impostor", &RocCurve::impostor, "impostor comparisons");
  curve.cls()
      .def_property_readonly(
          "tpr", [](const RocCurve& c) { return to_numpy(c.tpr()); },
          "true accept rate at each point")
      .def_property_readonly(
          "fpr", [](const RocCurve& c) { return to_numpy(c.fpr()); },
          "false accept rate at each point")
      .def_property_readonly(
          "fnr", [](const RocCurve& c) { return to_numpy(c.fnr()); },
          "1 - tpr; with fpr the points of the DET curve")
      .def("__len__", &RocCurve::size);

  def_metric(
      m, "roc", [](const Comparisons& c, std::span<const Weight> w) { return roc(c, w); },
      "The ROC as exact counts, ties grouped, nothing dropped.\n\n"
      ">>> from facebench.metrics import roc\n"
      ">>> curve = roc([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])\n"
      ">>> curve.true_accepts.tolist(), curve.false_accepts.tolist()\n"
      "([0, 1, 2, 2], [0, 0, 1, 2])");
  def_metric(
      m, "auc", [](const Comparisons& c, std::span<const Weight> w) { return auc(c, w); },
      "Area under the ROC curve: P(genuine > impostor), ties one half.\n\n"
      ">>> from facebench.metrics import auc\n"
      ">>> auc([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])\n"
      "0.875");
  def_metric(
      m, "eer", [](const Comparisons& c, std::span<const Weight> w) { return eer(c, w); },
      "Equal error rate, linear between neighbouring exact ROC points.\n\n"
      ">>> from facebench.metrics import eer\n"
      ">>> eer([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0])\n"
      "0.5");
  def_metric(
      m, "eer_convex_hull",
      [](const Comparisons& c, std::span<const Weight> w) { return eer_convex_hull(c, w); },
      "Equal error rate on the convex hull of the ROC curve.\n\n"
      ">>> from facebench.metrics import eer_convex_hull\n"
      ">>> eer_convex_hull([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0])\n"
      "0.25");
}

void bind_tar_at_far(py::module_& m) {
  ResultClass<TarAtFar>(m, "TarAtFar", "A true accept rate at a false accept rate, with its basis.")
      .field("value", &TarAtFar::value, "TAR in [0, 1]")
      .field("far_target", &TarAtFar::far_target, "the FAR asked for")
      .field("far_achieved", &TarAtFar::far_achieved, "the FAR that the threshold gives")
      .field("false_accepts", &TarAtFar::false_accepts, "impostor comparisons accepted")
      .field("expected_false_accepts", &TarAtFar::expected_false_accepts, "far_target * impostor")
      .field("reliable", &TarAtFar::reliable, "at least 10 false accepts expected")
      .field("threshold", &TarAtFar::threshold, "in the score's unit (mean over folds)")
      .field("genuine_accepted", &TarAtFar::genuine_accepted, "genuine comparisons accepted")
      .field("genuine", &TarAtFar::genuine, "genuine comparisons")
      .field("impostor", &TarAtFar::impostor, "impostor comparisons")
      .field("convention", &TarAtFar::convention, "name in tar_at_far_conventions()");
  m.def(
      "tar_at_far",
      [](const Comparisons& c, double far, const std::string& convention,
         const py::object& weights) {
        const auto w = whole_numbers<Weight>(weights, "weights");
        py::gil_scoped_release release;
        return tar_at_far(c, far, convention, w);
      },
      py::arg("comparisons"), py::arg("far"), py::arg("convention") = "exact",
      py::arg("weights") = py::none(),
      "True accept rate at a false accept rate.\n\n"
      "The default convention never exceeds the target FAR and groups ties; others are listed by\n"
      "tar_at_far_conventions(), some of which need folds.\n\n"
      ">>> from facebench.metrics import tar_at_far\n"
      ">>> cell = tar_at_far([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0], far=0.5)\n"
      ">>> cell.value, cell.false_accepts, cell.reliable\n"
      "(1.0, 1, False)");
  m.def(
      "tar_at_far",
      [](const py::object& scores, const py::object& labels, double far,
         const std::string& convention, const py::object& folds, const py::object& weights) {
        const auto c = make_comparisons(scores, labels, folds);
        const auto w = whole_numbers<Weight>(weights, "weights");
        py::gil_scoped_release release;
        return tar_at_far(*c, far, convention, w);
      },
      py::arg("scores"), py::arg("labels"), py::arg("far"), py::arg("convention") = "exact",
      py::arg("folds") = py::none(), py::arg("weights") = py::none());
  m.def(
      "tar_at_far_conventions",
      [] {
        py::list result;
        for (const TarAtFarConvention& c : tar_at_far_conventions().entries()) {
          py::dict d;
          d["name"] = c.name;
          d["doc"] = c.doc;
          d["source"] = c.source;
          d["needs_folds"] = c.needs_folds;
          d["cosine_only"] = c.cosine_only;
          result.append(d);
        }
        return result;
      },
      "The known conventions: name, doc, source, needs_folds, cosine_only.\n\n"
      ">>> from facebench.metrics import tar_at_far_conventions\n"
      ">>> tar_at_far_conventions()[0]['name']\n"
      "'exact'");
}

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
        py::gil_scoped_release release;
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
        py::gil_scoped_release release;
        return accuracy(*c, convention, w);
      },
      py::arg("scores"), py::arg("labels"), py::arg("folds"), py::arg("convention") = "exact",
      py::arg("weights") = py::none());
  m.def(
      "accuracy_conventions",
      [] {
        py::list result;
        for (const AccuracyConvention& c : accuracy_conventions().entries()) {
          py::dict d;
          d["name"] = c.name;
          d["doc"] = c.doc;
          d["source"] = c.source;
          d["cosine_only"] = c.cosine_only;
          d["spread"] = spread_name(c.spread);
          result.append(d);
        }
        return result;
      },
      "The known conventions: name, doc, source, cosine_only, spread.\n\n"
      ">>> from facebench.metrics import accuracy_conventions\n"
      ">>> [c['name'] for c in accuracy_conventions()][:3]\n"
      "['exact', 'facenet', 'insightface']");
}

void bind_interval(py::module_& m) {
  ResultClass<Interval>(m, "Interval", "A confidence interval.")
      .field("low", &Interval::low, "lower bound")
      .field("high", &Interval::high, "upper bound")
      .field("level", &Interval::level, "confidence level")
      .field("method", &Interval::method, "how it was computed")
      .field("replicates", &Interval::replicates, "replicates of a bootstrap")
      .field("undefined", &Interval::undefined, "replicates in which the statistic is undefined");
  m.def("wilson", &wilson, py::arg("k"), py::arg("n"), py::arg("level") = 0.95,
        "Wilson's interval for k successes in n independent trials (a fixed threshold).\n\n"
        ">>> from facebench.metrics import wilson\n"
        ">>> interval = wilson(9, 10)\n"
        ">>> round(interval.low, 3), round(interval.high, 3)\n"
        "(0.596, 0.982)");
  bind_options<BootstrapOptions>(m);

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
      "auc_statistic", [](const Shared& c) { return auc_statistic(c); }, py::arg("comparisons"),
      "The AUC, for the bootstrap.");
  m.def(
      "eer_statistic", [](const Shared& c) { return eer_statistic(c); }, py::arg("comparisons"),
      "The EER, for the bootstrap.");
  m.def(
      "tar_at_far_statistic",
      [](const Shared& c, double far, const std::string& convention) {
        return tar_at_far_statistic(c, far, convention);
      },
      py::arg("comparisons"), py::arg("far"), py::arg("convention") = "exact",
      "The TAR at a FAR, threshold chosen again in each replicate.");
  m.def(
      "accuracy_statistic",
      [](const Shared& c, const std::string& convention) {
        return accuracy_statistic(c, convention);
      },
      py::arg("comparisons"), py::arg("convention") = "exact",
      "The accuracy by folds, thresholds chosen again in each replicate.");

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
      ">>> from facebench.metrics import connected_components\n"
      ">>> connected_components([0, 1, 2], [1, 1, 3]).of_comparison.tolist()\n"
      "[0, 0, 1]");
  def_bootstrap(
      m, "component_bootstrap", &component_bootstrap,
      "Interval for sparse lists (LFW and its kin): resamples, within folds, the connected\n"
      "components of the identity graph.\n\n"
      "statistics: one Statistic, or a list (one interval each, from the same replicates);\n"
      "a Python function of the weights works too. first, second: identity numbers of each\n"
      "comparison. The same bits for any number of threads.\n\n"
      ">>> from facebench.metrics import Comparisons, auc_statistic, component_bootstrap\n"
      ">>> c = Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])\n"
      ">>> i = component_bootstrap(auc_statistic(c), [0, 1, 2, 4], [0, 1, 3, 5])\n"
      ">>> i.method, 0 <= i.low <= 0.75 <= i.high <= 1\n"
      "('component_bootstrap', True)");
  def_bootstrap(
      m, "vertex_bootstrap", &vertex_bootstrap,
      "Interval for dense comparisons (all pairs): resamples identities; normal on the\n"
      "logit scale. Arguments as for component_bootstrap; folds are not used.\n\n"
      ">>> from facebench.metrics import Comparisons, auc_statistic, vertex_bootstrap\n"
      ">>> c = Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.2], [1, 1, 1, 0, 0, 0])\n"
      ">>> i = vertex_bootstrap(auc_statistic(c), [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2])\n"
      ">>> i.method\n"
      "'vertex_bootstrap_logit'");
}

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
      py::gil_scoped_release release;
      return f(s, l);
    };
  };
  m.def("summarize", with_both([](const auto& s, const auto& l) { return summarize(s, l); }),
        py::arg("scores"), py::arg("labels"), "Moments of both classes, and d'.");
  m.def("dprime", with_both([](const auto& s, const auto& l) { return dprime(s, l); }),
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
        py::gil_scoped_release release;
        return histogram(s, l, bins);
      },
      py::arg("scores"), py::arg("labels"), py::arg("bins") = 100,
      "Counts of both classes in equal bins from the lowest to the highest score.");
}

}  // namespace

void bind_metrics(py::module_& m) {
  bind_comparisons(m);
  bind_roc(m);
  bind_tar_at_far(m);
  bind_accuracy(m);
  bind_interval(m);
  bind_summary(m);
}

}  // namespace facebench
