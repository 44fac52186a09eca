#include "facebench/analysis/quality_report.h"

#include "arrays.h"
#include "common.h"
#include "json.h"
#include "modules.h"

namespace facebench {

void bind_quality_report(py::module_& m) {
  m.def(
      "read_qualities",
      [](const std::filesystem::path& path, const std::vector<std::string>& columns,
         const std::optional<std::string>& key) {
        py::dict result;
        for (NamedQuality& q : read_named_qualities(path, columns, key))
          result[py::str(q.name)] = py::make_tuple(q.samples, to_numpy(std::move(q.values)));
        return result;
      },
      py::arg("path"), py::arg("columns"), py::arg("key"));
  m.def(
      "quality_report",
      [](const std::filesystem::path& run, const py::dict& qualities,
         const std::optional<std::string>& track, const DiscardOptions& options,
         const std::filesystem::path& other, int threads, const py::object& progress) {
        std::vector<NamedQuality> named;
        for (const auto& [name, value] : qualities) {
          const auto [samples, values] =
              value.cast<std::pair<std::vector<std::string>, py::object>>();
          named.push_back({py::str(name), samples, numbers(values, "qualities")});
        }
        return json_to_python(quality_report_json(with_job(threads, progress, [&](const Job& job) {
          return quality_report(run, named, track, options, other, job);
        })));
      },
      py::arg("run"), py::arg("qualities"), py::arg("track"), py::arg("options"), py::arg("other"),
      py::arg("threads"), py::arg("progress"));
}

}  // namespace facebench
