#include "arrays.h"
#include "common.h"
#include "facebench/analysis/calibration_report.h"
#include "facebench/analysis/fusion_report.h"
#include "facebench/analysis/threshold_report.h"
#include "json.h"
#include "modules.h"

namespace facebench {

void bind_operating_points(py::module_& m) {
  bind_options<ThresholdReportOptions>(m);
  bind_options<CalibrationOptions>(m);
  m.def(
      "threshold_report",
      [](const std::filesystem::path& run, const std::filesystem::path& test,
         const ThresholdReportOptions& options, int threads, const py::object& progress) {
        return json_to_python(
            threshold_report_json(with_job(threads, progress, [&](const Job& job) {
              return threshold_report(run, test, options, job);
            })));
      },
      py::arg("run"), py::arg("test"), py::arg("options"), py::arg("threads"), py::arg("progress"));
  m.def(
      "calibration_report",
      [](const std::filesystem::path& run, const std::filesystem::path& test,
         const CalibrationOptions& options, int threads, const py::object& progress) {
        const CalibrationReport r = with_job(threads, progress, [&](const Job& job) {
          return calibration_report(run, test, options, job);
        });
        return py::make_tuple(json_to_python(calibration_report_json(r)),
                              calibrator_json(r.calibrator).dump(2) + "\n");
      },
      py::arg("run"), py::arg("test"), py::arg("options"), py::arg("threads"), py::arg("progress"));
  bind_options<FusionOptions>(m);
  m.def(
      "fuse",
      [](const std::vector<std::filesystem::path>& runs,
         const std::vector<std::filesystem::path>& trained_on, const FusionOptions& options,
         int threads, const py::object& progress) {
        FusionReport r = with_job(threads, progress, [&](const Job& job) {
          return fuse(runs, trained_on, options, job);
        });
        const py::object json = json_to_python(fusion_report_json(r));
        return py::make_tuple(json, std::move(r.result));
      },
      py::arg("runs"), py::arg("train"), py::arg("options"), py::arg("threads"),
      py::arg("progress"));
  m.def("read_calibrator", &read_calibrator, py::arg("path"));
}

}  // namespace facebench
