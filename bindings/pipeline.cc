#include "facebench/pipeline/demo.h"
#include "facebench/pipeline/preparation.h"
#include "facebench/pipeline/run.h"
#include "facebench/pipeline/verify.h"

#include <variant>

#include "common.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

py::dict demo_to_python(const DemoResult& result) {
  const py::list runs = dicts_of(result.runs, "folder", &DemoRun::folder, "protocol",
                                 &DemoRun::protocol, "title", &DemoRun::title);
  const py::list steps = dicts_of(result.steps, "name", &DemoStep::name, "detail",
                                  &DemoStep::detail, "seconds", &DemoStep::seconds);
  return py::dict(py::arg("folder") = result.folder, py::arg("runs") = runs,
                  py::arg("steps") = steps);
}

}  // namespace

void bind_pipeline(py::module_& m) {
  bind_options<PreparationOptions>(m);
  bind_options<DemoOptions>(m);

  m.def(
      "run",
      [](const std::string& protocol, const std::variant<const BatchModel*, const Model*>& model,
         const fs::path& out, const fs::path& root, const fs::path& images, const fs::path& lists,
         const PreparationOptions& preparation, const PackOptions& pack,
         const ExtractOptions& extract, const EvaluationOptions& evaluation, bool discard,
         bool overwrite, const fs::path& cache, const py::object& reused,
         const std::string& command, const std::optional<fs::path>& exclude,
         const std::optional<std::int64_t>& limit, int threads, py::object progress) {
        RunRequest request;
        if (exclude) request.exclude = read_exclusion(*exclude);
        request.limit = limit;
        request.protocol = protocol;
        request.places = {root, images, lists};
        request.preparation = preparation;
        request.pack = pack;
        request.extract = extract;
        request.evaluation = evaluation;
        request.discard = discard;
        request.overwrite = overwrite;
        request.cache = cache;
        request.reused = [&](const std::string& what) {
          py::gil_scoped_acquire gil;
          if (!reused.is_none()) reused(what);
        };
        request.command = command;
        return std::visit(
            [&](const auto& m) {
              return with_job(threads, std::move(progress),
                              [&](const Job& job) { return run(request, *m, out, job); });
            },
            model);
      },
      py::arg("protocol"), py::arg("model").none(false), py::arg("out"), py::kw_only(),
      py::arg("root") = "", py::arg("images") = "", py::arg("lists") = "",
      py::arg("preparation") = PreparationOptions{}, py::arg("pack") = PackOptions{},
      py::arg("extract") = ExtractOptions{}, py::arg("evaluation") = EvaluationOptions{},
      py::arg("discard") = false, py::arg("overwrite") = false, py::arg("cache") = "",
      py::arg("reused") = py::none(), py::arg("command") = "", py::arg("exclude") = py::none(),
      py::arg("limit") = py::none(), py::arg("threads") = 0, py::arg("progress") = py::none(),
      "See facebench.run.");

  m.def(
      "verify",
      [](const fs::path& run, const fs::path& root, int threads, py::object progress) {
        const std::vector<Check> checks = with_job(
            threads, std::move(progress), [&](const Job& job) { return verify(run, root, job); });
        return dicts_of(checks, "name", &Check::name, "same", &Check::same, "detail",
                        &Check::detail);
      },
      py::arg("run"), py::arg("root") = "", py::arg("threads") = 0,
      py::arg("progress") = py::none(), "See facebench.verify.");

  m.def(
      "prepare",
      [](const Dataset& dataset, const fs::path& out, const PreparationOptions& preparation,
         const PackOptions& options, int threads, py::object progress) {
        const PreparationSource sources[] = {{"caller", preparation}};
        const Preparation p = resolve_preparation(sources);
        return with_job(threads, std::move(progress), [&](const Job& job) {
          return pack_dataset(dataset, p.detector.get(), p.selection, p.crop, options, out, job);
        });
      },
      py::arg("dataset"), py::arg("out"), py::arg("preparation") = PreparationOptions{},
      py::arg("options") = PackOptions{}, py::arg("threads") = 0, py::arg("progress") = py::none(),
      "See facebench.pack.");

  m.def(
      "protocol_dataset",
      [](const std::string& protocol, const fs::path& root, const fs::path& images,
         const fs::path& lists) {
        const ProtocolSpec spec = load_protocol(protocol);
        const DataPlaces places{root, images, lists};
        const TrialSet trials = read_trials(spec, places);
        return protocol_dataset(spec, trials, find_images(spec, trials, places));
      },
      py::arg("protocol"), py::arg("root") = "", py::arg("images") = "", py::arg("lists") = "",
      "The images that the lists of a protocol name, as a data set.");

  m.def(
      "demo",
      [](const DemoOptions& options, const fs::path& out, int threads, py::object progress) {
        return demo_to_python(with_job(threads, std::move(progress),
                                       [&](const Job& job) { return demo(options, out, job); }));
      },
      py::arg("options"), py::arg("out"), py::arg("threads") = 0, py::arg("progress") = py::none(),
      "See facebench.demo.");
}

}  // namespace facebench
