#include "facebench/datasets/overlap.h"

#include "common.h"
#include "facebench/datasets/exclusion.h"
#include "facebench/datasets/person_names.h"
#include "json.h"
#include "modules.h"

namespace facebench {

void bind_overlap(py::module_& m) {
  bind_options<OverlapOptions>(m);
  m.def("name_words", &name_words, py::arg("name"));
  m.def("normalized_name", &normalized_name, py::arg("name"));
  m.def(
      "match_names",
      [](const std::vector<std::string>& first, const std::vector<std::string>& second) {
        std::vector<std::tuple<std::string, std::string, std::string>> result;
        for (const NameMatch& match : match_names(first, second).matches)
          result.emplace_back(first[static_cast<std::size_t>(match.first)],
                              second[static_cast<std::size_t>(match.second)], match.rule);
        return result;
      },
      py::arg("first"), py::arg("second"));
  m.def(
      "find_overlap",
      [](const std::filesystem::path& train, const std::filesystem::path& test,
         const std::filesystem::path& train_embeddings,
         const std::filesystem::path& test_embeddings, const OverlapOptions& options, int threads,
         const py::object& progress) {
        const OverlapReport report = with_job(threads, progress, [&](const Job& job) {
          return find_overlap(read_overlap_side(train, train_embeddings),
                              read_overlap_side(test, test_embeddings), options, job);
        });
        return py::make_tuple(json_to_python(overlap_json(report)), overlap_csv(report),
                              overlap_exclusion(report));
      },
      py::arg("train"), py::arg("test"), py::arg("train_embeddings"), py::arg("test_embeddings"),
      py::arg("options"), py::arg("threads"), py::arg("progress"));
  m.def(
      "exclude",
      [](const Dataset& dataset, const std::filesystem::path& list) {
        return exclude(dataset, read_exclusion(list));
      },
      py::arg("dataset"), py::arg("list"));
}

}  // namespace facebench
