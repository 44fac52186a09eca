#include "facebench/datasets/overlap.h"

#include <map>

#include "common.h"
#include "facebench/datasets/exclusion.h"
#include "facebench/core/person_names.h"
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
         const std::filesystem::path& test_embeddings,
         const std::map<std::string, std::string>& train_names,
         const std::map<std::string, std::string>& test_names, const OverlapOptions& options,
         int threads, const py::object& progress) {
        const OverlapReport report = with_job(threads, progress, [&](const Job& job) {
          OverlapSide first = read_overlap_side(train, train_embeddings);
          OverlapSide second = read_overlap_side(test, test_embeddings);
          if (!train_names.empty()) name_people(first, train_names);
          if (!test_names.empty()) name_people(second, test_names);
          return find_overlap(std::move(first), std::move(second), options, job);
        });
        return py::make_tuple(json_to_python(overlap_json(report)), overlap_csv(report),
                              overlap_exclusion(report));
      },
      py::arg("train"), py::arg("test"), py::arg("train_embeddings"), py::arg("test_embeddings"),
      py::arg("train_names"), py::arg("test_names"), py::arg("options"), py::arg("threads"),
      py::arg("progress"));
  m.def(
      "read_exclusion",
      [](const std::filesystem::path& path, bool keeps) {
        const Exclusion e = read_exclusion(path, keeps);
        return py::dict(py::arg("people") = std::vector(e.people.begin(), e.people.end()),
                        py::arg("samples") = std::vector(e.samples.begin(), e.samples.end()),
                        py::arg("sha256") = e.sha256);
      },
      py::arg("path"), py::arg("keeps") = false,
      "A list of people and samples to leave out, as `facebench data overlap --out` writes it, or\n"
      "(``keeps``) of those that alone stay: a dict of people, samples and the file's sha256.\n"
      "facebench.Error with file and line.\n\n"
      ">>> import pathlib, tempfile\n"
      ">>> from facebench.datasets import read_exclusion\n"
      ">>> path = pathlib.Path(tempfile.mkdtemp()) / 'list.txt'\n"
      ">>> _ = path.write_text('person\\tJane_Doe\\n')\n"
      ">>> read_exclusion(path)['people']\n"
      "['Jane_Doe']");
  m.def(
      "exclude",
      [](const Dataset& dataset, const std::filesystem::path& list,
         const std::filesystem::path& only) {
        return exclude(dataset, read_exclusions(list, only));
      },
      py::arg("dataset"), py::arg("list") = "", py::arg("only") = "");
}

}  // namespace facebench
