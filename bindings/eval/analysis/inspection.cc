#include "facebench/analysis/inspection.h"

#include "arrays.h"
#include "common.h"
#include "facebench/analysis/listed_run.h"
#include "json.h"
#include "modules.h"

namespace facebench {

void bind_inspection(py::module_& m) {
  bind_options<InspectionOptions>(m);
  m.def(
      "inspect_run",
      [](const std::filesystem::path& run, const std::filesystem::path& other,
         const std::vector<std::string>& people, const std::filesystem::path& attributes,
         const std::optional<std::string>& group, const std::filesystem::path& qualities,
         std::optional<double> quality_below, const std::optional<std::string>& column,
         const InspectionOptions& options) {
        const PairChoice choice{people, attributes, group, qualities, quality_below, column};
        const Inspection r = inspect_run(run, choice, other, options);
        return py::make_tuple(json_to_python(inspection_json(r)), suspects_exclusion(r));
      },
      py::arg("run"), py::arg("other"), py::arg("people"), py::arg("attributes"), py::arg("group"),
      py::arg("qualities"), py::arg("quality_below"), py::arg("column"), py::arg("options"));
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
        d["people"] = py::make_tuple(to_numpy(std::move(list.people[0])),
                                     to_numpy(std::move(list.people[1])));
        d["units"] =
            py::make_tuple(to_numpy(std::move(list.units[0])), to_numpy(std::move(list.units[1])));
        return d;
      },
      py::arg("run"), py::arg("track"));
}

}  // namespace facebench
