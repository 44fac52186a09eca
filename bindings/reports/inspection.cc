#include "facebench/reports/inspection.h"

#include "common.h"
#include "json.h"
#include "modules.h"

namespace facebench {

void bind_inspection(py::module_& m) {
  bind_options<InspectionOptions>(m);
  m.def(
      "inspect_run",
      [](const std::filesystem::path& run, const std::vector<std::string>& among,
         const std::filesystem::path& other, const InspectionOptions& options) {
        const Inspection r = inspect_run(run, {among.begin(), among.end()}, other, options);
        return py::make_tuple(inspection_text(r), json_to_python(inspection_json(r)),
                              suspects_exclusion(r));
      },
      py::arg("run"), py::arg("among"), py::arg("other"), py::arg("options"));
}

}  // namespace facebench
