#include "facebench/metrics/reject.h"

#include "metrics/metrics.h"

namespace facebench {

void bind_reject(py::module_& m) {
  ResultClass<RejectCurve> curve(m, "RejectCurve",
                                 "The error rate when the worst share of comparisons is rejected.");
  curve.field("rejected", &RejectCurve::rejected, "share set aside, from 0")
      .field("error", &RejectCurve::error, "error rate of those kept")
      .field("quality", &RejectCurve::quality, "lowest quality kept")
      .field("wrong", &RejectCurve::wrong, "wrong comparisons kept")
      .field("kept", &RejectCurve::kept, "comparisons kept");
  curve.cls()
      .def("__len__", &RejectCurve::size)
      .def("area", &RejectCurve::area, py::arg("limit") = 1.0,
           "Mean error (area of the step function) while up to `limit` is set aside.")
      .def("best_area", &RejectCurve::best_area, py::arg("limit") = 1.0,
           "The same for qualities that reject every wrong comparison first.");
  m.def(
      "error_versus_reject",
      [](const py::object& wrong, const py::object& quality) {
        const auto w = whole_numbers<std::uint8_t>(wrong, "wrong");
        const auto q = numbers(quality, "quality");
        py::gil_scoped_release release;
        return error_versus_reject(w, q);
      },
      py::arg("wrong"), py::arg("quality"),
      "wrong: 1 where a comparison is decided wrongly; quality: higher = better. Equal qualities\n"
      "are set aside together.\n\n"
      ">>> from facebench.metrics import error_versus_reject\n"
      ">>> curve = error_versus_reject([1, 0, 0, 1], [0.1, 0.5, 0.9, 0.5])\n"
      ">>> curve.rejected.tolist(), curve.wrong.tolist()\n"
      "([0.0, 0.25, 0.75], [2, 1, 0])");
  m.def(
      "fnmr_versus_reject",
      [](const py::object& scores, const py::object& labels, const py::object& quality,
         double threshold) {
        const auto s = numbers(scores, "scores");
        const auto l = whole_numbers<std::uint8_t>(labels, "labels");
        const auto q = numbers(quality, "quality");
        py::gil_scoped_release release;
        return fnmr_versus_reject(s, l, q, threshold);
      },
      py::arg("scores"), py::arg("labels"), py::arg("quality"), py::arg("threshold"),
      "False non-matches at a fixed threshold when pairs of low quality are rejected.\n"
      "quality: of each comparison, of two images the lower one's.\n\n"
      ">>> from facebench.metrics import fnmr_versus_reject\n"
      ">>> fnmr_versus_reject([0.1, 0.9, 0.2], [1, 1, 0], [0.1, 0.9, 0.5], 0.5).error.tolist()\n"
      "[0.5, 0.0]");
  m.def(
      "error_versus_abstain",
      [](const py::object& scores, const py::object& labels, double threshold) {
        const auto s = numbers(scores, "scores");
        const auto l = whole_numbers<std::uint8_t>(labels, "labels");
        py::gil_scoped_release release;
        return error_versus_abstain(s, l, threshold);
      },
      py::arg("scores"), py::arg("labels"), py::arg("threshold"),
      "All errors, comparisons whose score is nearest to the threshold set aside first.\n\n"
      ">>> from facebench.metrics import error_versus_abstain\n"
      ">>> error_versus_abstain([0.4, 0.9, 0.2], [1, 1, 0], 0.5).wrong.tolist()\n"
      "[1, 0, 0]");
}

}  // namespace facebench
