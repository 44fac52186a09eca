#include "facebench/metrics/comparisons.h"

#include "metrics/metrics.h"

namespace facebench {

std::shared_ptr<Comparisons> make_comparisons(const py::object& scores, const py::object& labels,
                                              const py::object& folds) {
  const auto s = numbers(scores, "scores");
  const auto l = whole_numbers<std::uint8_t>(labels, "labels");
  const auto f = whole_numbers<std::int32_t>(folds, "folds");
  const WithoutGil without_gil;
  return std::make_shared<Comparisons>(s, l, f);
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

}  // namespace facebench
