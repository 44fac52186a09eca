#include "facebench/metrics/tar_at_far.h"

#include "metrics/metrics.h"
#include "tables.h"

namespace facebench {

void bind_tar_at_far(py::module_& m) {
  ResultClass<TarAtFar>(m, "TarAtFar", "A TAR at a FAR, with the counts behind it.")
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
        const WithoutGil without_gil;
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
        const WithoutGil without_gil;
        return tar_at_far(*c, far, convention, w);
      },
      py::arg("scores"), py::arg("labels"), py::arg("far"), py::arg("convention") = "exact",
      py::arg("folds") = py::none(), py::arg("weights") = py::none());
  m.def(
      "tar_at_far_conventions",
      [] {
        return table_list(tar_at_far_conventions(), "source", &TarAtFarConvention::source,
                          "needs_folds", &TarAtFarConvention::needs_folds, "cosine_only",
                          &TarAtFarConvention::cosine_only);
      },
      "The known conventions: name, doc, source, needs_folds, cosine_only.\n\n"
      ">>> from facebench.metrics import tar_at_far_conventions\n"
      ">>> tar_at_far_conventions()[0]['name']\n"
      "'exact'");
}

}  // namespace facebench
