#include "facebench/reports/inspection.h"

#include "arrays.h"
#include "common.h"
#include "facebench/reports/listed_run.h"
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
  m.def(
      "listed_run",
      [](const std::filesystem::path& run, const std::optional<std::string>& track) {
        ListedRun list = listed_run(run, track);
        py::dict d;
        d["protocol"] = list.protocol;
        d["track"] = list.track;
        d["scores"] = to_numpy(std::move(list.scores));
        d["labels"] = to_numpy(std::move(list.labels));
        d["folds"] = list.folds.empty() ? py::object(py::none()) : to_numpy(std::move(list.folds));
        d["people"] = py::make_tuple(to_numpy(std::move(list.first_person)),
                                     to_numpy(std::move(list.second_person)));
        d["units"] = py::make_tuple(to_numpy(std::move(list.first_unit)),
                                    to_numpy(std::move(list.second_unit)));
        return d;
      },
      py::arg("run"), py::arg("track"));
}

}  // namespace facebench
