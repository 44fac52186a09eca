#include "arrays.h"
#include "common.h"
#include "facebench/analysis/gallery_sizes.h"
#include "facebench/analysis/variance_budget.h"
#include "json.h"
#include "modules.h"

namespace facebench {

namespace fs = std::filesystem;

void bind_run_judgements(py::module_& m) {
  bind_options<GalleryOptions>(m);
  m.def(
      "gallery_sizes",
      [](const EmbeddingSet& embeddings, const std::vector<std::int32_t>& people,
         const GalleryOptions& options, int threads, const py::object& progress) {
        return json_to_python(gallery_sizes_json(with_job(threads, progress, [&](const Job& job) {
          return gallery_sizes(embeddings, people, options, job);
        })));
      },
      py::arg("embeddings"), py::arg("people"), py::arg("options"), py::arg("threads"),
      py::arg("progress"));
  m.def(
      "variance_budget",
      [](const std::vector<fs::path>& runs, const std::optional<std::string>& metric,
         const std::optional<std::string>& track, const BootstrapOptions& options, int threads,
         const py::object& progress) {
        return json_to_python(variance_budget_json(with_job(threads, progress, [&](const Job& job) {
          return variance_budget(runs, metric, track, options, job);
        })));
      },
      py::arg("runs"), py::arg("metric"), py::arg("track"), py::arg("options"), py::arg("threads"),
      py::arg("progress"));
}

}  // namespace facebench
