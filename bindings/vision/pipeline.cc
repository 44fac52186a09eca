#include "facebench/io/hdf5.h"
#include "facebench/pipeline/pack.h"
#include "facebench/pipeline/run.h"
#include "facebench/pipeline/verify.h"

#include <pybind11/functional.h>

#include <variant>

#include "common.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace fs = std::filesystem;

void bind_pipeline(py::module_& m) {
  bind_options<PreparationOptions>(m);
  bind_options<PackRequest>(m);
  bind_options<RunRequest>(m);

  m.def(
      "run",
      [](const std::string& protocol, const std::variant<const BatchModel*, const Model*>& model,
         const fs::path& out, RunRequest request, const std::string& command,
         const std::function<void(std::string)>& reused, const std::function<void(fs::path)>& pages,
         int threads, py::object progress) {
        request.protocol = protocol;
        request.command = command;
        request.reused = reused;
        request.pages = pages;
        return std::visit(
            [&](const auto& m) {
              return with_job(threads, std::move(progress),
                              [&](const Job& job) { return run(request, *m, out, job); });
            },
            model);
      },
      py::arg("protocol"), py::arg("model").none(false), py::arg("out"), py::arg("request"),
      py::arg("command"), py::arg("reused"), py::arg("pages"), py::arg("threads") = 0,
      py::arg("progress") = py::none(), "See facebench.run.");

  m.def(
      "pack_protocol",
      [](const std::string& protocol, const PreparationOptions& model,
         const std::vector<std::string>& names, const fs::path& out, RunRequest request,
         int threads, py::object progress) {
        request.protocol = protocol;
        with_job(threads, std::move(progress),
                 [&](const Job& job) { pack_protocol(request, model, names, out, job); });
      },
      py::arg("protocol"), py::arg("model"), py::arg("names"), py::arg("out"), py::arg("request"),
      py::arg("threads") = 0, py::arg("progress") = py::none(),
      "The pack that run makes of the images with these names, written to out.");

  m.def(
      "verify",
      [](const fs::path& run, const fs::path& root, int threads, py::object progress) {
        const std::vector<Check> checks = with_job(
            threads, std::move(progress), [&](const Job& job) { return verify(run, root, job); });
        return dicts_of(checks, "name", &Check::name, "same", &Check::outcome, "detail",
                        &Check::detail);
      },
      py::arg("run"), py::arg("root") = "", py::arg("threads") = 0,
      py::arg("progress") = py::none(), "See facebench.verify.");

  m.def(
      "pack",
      [](const std::string& dataset, const fs::path& root, const fs::path& out,
         const PackRequest& request, const std::string& shard, int threads, py::object progress) {
        return with_job(threads, std::move(progress), [&](const Job& job) {
          return shard.empty() ? pack(request, dataset, root, out, job)
                               : pack(request, dataset, root, parse_shard(shard), out, job);
        });
      },
      py::arg("dataset"), py::arg("root"), py::arg("out"), py::arg("request"),
      py::arg("shard") = "", py::arg("threads") = 0, py::arg("progress") = py::none(),
      "See facebench.pack.");
  m.def(
      "is_pack", [](const fs::path& path) { return H5Reader(path).has("/images"); },
      py::arg("path"), "Whether a file of ours is a pack, or a shard of one.");
  m.def(
      "merge_packs",
      [](const std::vector<fs::path>& shards, const fs::path& out, py::object progress) {
        return with_job(0, std::move(progress),
                        [&](const Job& job) { return merge_packs(shards, out, job); });
      },
      py::arg("shards"), py::arg("out"), py::kw_only(), py::arg("progress") = py::none(),
      "Joins the shards of a pack, in any order: the bytes that pack writes of all images.\n\n"
      "shards: their paths. ValueError where one is missing or there twice, facebench.Error where\n"
      "one is of another data set or was made with other options. Returns a PackSummary.");

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
}

}  // namespace facebench
