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
        const WithoutGil without_gil;
        return error_versus_reject(w, q);
      },
      py::arg("wrong"), py::arg("quality"),
      "wrong: 1 where a comparison is decided wrongly; quality: higher = better. Equal qualities\n"
      "are set aside together.\n\n"
      ">>> from facebench.metrics import error_versus_reject\n"
      ">>> curve = error_versus_reject([1, 0, 0, 1], [0.1, 0.5, 0.9, 0.5])\n"
      ">>> curve.rejected.tolist(), curve.wrong.tolist()\n"
      "([0.0, 0.25, 0.75], [2, 1, 0])");
}

}  // namespace facebench
