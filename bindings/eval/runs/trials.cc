#include <fmt/format.h>

#include "arrays.h"
#include "common.h"
#include "facebench/evaluation/spec.h"
#include "facebench/trials/dense_trials.h"
#include "facebench/trials/identification_trials.h"
#include "facebench/trials/listed_trials.h"
#include "facebench/trials/matrix_trials.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

py::array comparisons_of(const ListedTrials& t) {
  std::vector<std::int32_t> pairs;
  for (const Comparison& c : t.comparisons) {
    pairs.push_back(c.first);
    pairs.push_back(c.second);
  }
  return to_numpy(std::move(pairs), {static_cast<py::ssize_t>(t.comparisons.size()), 2});
}

py::array subjects_by_groups(const MatrixTrials& t, const std::vector<std::int32_t>& units) {
  return copy_of(units, {t.subjects(), static_cast<py::ssize_t>(t.groups.size())});
}

void bind_spec(py::module_& m) {
  py::class_<ProtocolSpec>(m, "ProtocolSpec", "A protocol as its TOML states it.")
      .def_readonly("id", &ProtocolSpec::id)
      .def_readonly("version", &ProtocolSpec::version)
      .def_readonly("title", &ProtocolSpec::title)
      .def_readonly("description", &ProtocolSpec::description)
      .def_readonly("citations", &ProtocolSpec::citations)
      .def_property_readonly(
          "about",
          [](const ProtocolSpec& s) {
            using About = decltype(s.about);
            return dict_of(s.about, "files", &About::files, "ask", &About::ask, "failures",
                           &About::failures, "paper", &About::paper, "notes", &About::notes);
          },
          "What the protocol's page says: files, ask, failures, paper, notes.")
      .def_property_readonly(
          "expected",
          [](const ProtocolSpec& s) {
            py::list result;
            for (const ExpectedCounts& e : s.expected) {
              py::dict d;
              d["track"] = e.track;
              for (const auto& [key, value] : e.counts) d[py::str(key)] = value;
              result.append(d);
            }
            return result;
          },
          "The counts of the official lists, one dict per track.")
      .def_readonly("image_folders", &ProtocolSpec::image_folders)
      .def_readonly("list_folders", &ProtocolSpec::list_folders)
      .def_readonly("match", &ProtocolSpec::match)
      .def_readonly("reader", &ProtocolSpec::reader_name)
      .def_readonly("convention", &ProtocolSpec::convention)
      .def_readonly("fusion", &ProtocolSpec::fusion, "Empty for protocols without templates.")
      .def_readonly("summary", &ProtocolSpec::summary, "'mean' over the tracks, or 'none'.")
      .def_readonly("interval", &ProtocolSpec::interval)
      .def_readonly("failed_enrolments", &ProtocolSpec::failed_enrolments)
      .def_readonly("text", &ProtocolSpec::text, "The TOML itself.")
      .def_readonly("sha256", &ProtocolSpec::sha256, "SHA-256 of the text.")
      .def_property_readonly("metrics",
                             [](const ProtocolSpec& s) {
                               return dicts_of(s.metrics, "name", &MetricRequest::name, "targets",
                                               &MetricRequest::targets, "source",
                                               &MetricRequest::source);
                             })
      .def_property_readonly(
          "files", [](const ProtocolSpec& s) { return s.reader->files(); },
          "The list files that it reads.")
      .def("__repr__", [](const ProtocolSpec& s) {
        return fmt::format("ProtocolSpec({} version {}: {})", s.id, s.version, s.title);
      });
}

}  // namespace

py::array units_of_scores(const TrialSet& set, std::size_t track, std::int64_t begin,
                          std::int64_t end) {
  const Trials& trials = *set.tracks.at(track).trials;
  if (begin < 0 || end < begin || end > trials.slots())
    throw py::index_error(fmt::format("scores {} to {} of {}", begin, end, trials.slots()));
  py::array_t<std::int32_t> units({static_cast<py::ssize_t>(end - begin), py::ssize_t{2}});
  auto* at = units.mutable_data();
  for (std::int64_t k = begin; k < end; ++k) {
    const auto compared = trials.comparison_at(k);
    *at++ = compared ? compared->first : -1;
    *at++ = compared ? compared->second : -1;
  }
  return units;
}

void bind_trials(py::module_& m) {
  bind_spec(m);
  py::class_<Trials, std::shared_ptr<Trials>>(m, "Trials", "What is compared with what.")
      .def_property_readonly("kind", &Trials::kind);
  py::class_<ListedTrials, Trials, std::shared_ptr<ListedTrials>>(m, "ListedTrials",
                                                                  "A list of comparisons.")
      .def_property_readonly("comparisons", &comparisons_of, "int32 (N, 2), indices of units.")
      .def_property_readonly(
          "genuine", [](const ListedTrials& t) { return copy_of(t.genuine); },
          "uint8 (N), 1 = genuine.")
      .def_property_readonly(
          "fold", [](const ListedTrials& t) { return copy_of(t.fold); }, "int32 (N), or empty.")
      .def("__len__", [](const ListedTrials& t) { return t.comparisons.size(); });
  py::class_<DenseTrials, Trials, std::shared_ptr<DenseTrials>>(
      m, "DenseTrials", "Every row unit with every column unit.")
      .def_property_readonly(
          "rows", [](const DenseTrials& t) { return copy_of(t.rows); }, "int32, units.")
      .def_property_readonly(
          "columns", [](const DenseTrials& t) { return copy_of(t.columns); }, "int32, units.")
      .def_readonly("triangle", &DenseTrials::triangle,
                    "Rows are the columns: each unordered pair once, nothing with itself.")
      .def_property_readonly(
          "mask",
          [](const DenseTrials& t) -> py::object {
            if (t.mask.empty()) return py::none();
            return copy_of(t.mask, {static_cast<py::ssize_t>(t.rows.size()),
                                    static_cast<py::ssize_t>(t.columns.size())});
          },
          "uint8 (rows, columns): 0 not compared, 1 genuine, 2 impostor; None = by identity.");
  py::class_<MatrixTrials, Trials, std::shared_ptr<MatrixTrials>>(
      m, "MatrixTrials", "Two templates of each group for each subject.")
      .def_readonly("groups", &MatrixTrials::groups)
      .def_property_readonly(
          "first", [](const MatrixTrials& t) { return subjects_by_groups(t, t.first); },
          "int32 (subjects, groups): template 1, the rows of the matrix.")
      .def_property_readonly(
          "second", [](const MatrixTrials& t) { return subjects_by_groups(t, t.second); },
          "int32 (subjects, groups): template 2, the columns.");
  py::class_<IdentificationTrials, Trials, std::shared_ptr<IdentificationTrials>>(
      m, "IdentificationTrials", "Probes searched in a gallery.")
      .def_property_readonly("gallery",
                             [](const IdentificationTrials& t) { return copy_of(t.gallery); })
      .def_property_readonly("probes",
                             [](const IdentificationTrials& t) { return copy_of(t.probes); });
  py::class_<Track>(m, "Track", "A part of a protocol with numbers of its own.")
      .def_readonly("name", &Track::name)
      .def_property_readonly(
          "trials", [](const Track& t) { return std::const_pointer_cast<Trials>(t.trials); })
      .def_property_readonly("kind", [](const Track& t) { return t.trials->kind(); });
  py::class_<Templates>(m, "Templates", "Samples fused into one embedding each.")
      .def_readonly("names", &Templates::names)
      .def_property_readonly("identity", [](const Templates& t) { return copy_of(t.identity); })
      .def_property_readonly(
          "begin", [](const Templates& t) { return copy_of(t.begin); },
          "int64 (templates + 1): template t has samples begin[t] to begin[t + 1].")
      .def_property_readonly("sample", [](const Templates& t) { return copy_of(t.sample); })
      .def_property_readonly("medium", [](const Templates& t) { return copy_of(t.medium); })
      .def_property_readonly(
          "score", [](const Templates& t) { return copy_of(t.score); },
          "float32, the score of each sample's detection; empty where the lists have none.")
      .def("__len__", &Templates::size);
  py::class_<TrialSet>(m, "TrialSet", "Everything that the lists of a protocol say.")
      .def_readonly("names", &TrialSet::names, "Sample names, relative to the image folder.")
      .def_property_readonly(
          "identity", [](const TrialSet& t) { return copy_of(t.identity); },
          "int32, per sample an index into identity_names.")
      .def_readonly("identity_names", &TrialSet::identity_names)
      .def_readonly("tracks", &TrialSet::tracks)
      .def_readonly("templates", &TrialSet::templates)
      .def_readonly("notes", &TrialSet::notes)
      .def_readonly("warnings", &TrialSet::warnings)
      .def_property_readonly(
          "blemishes",
          [](const TrialSet& t) { return json_to_python(blemishes_json(t.blemishes)); },
          "What is odd in the lists, one dict a kind: kind, count, first (file, line, what).")
      .def(
          "counts",
          [](const TrialSet& t, std::size_t track) {
            return dict_of_pairs(track_counts(t.tracks.at(track), t));
          },
          py::arg("track") = 0, "What a track holds: comparisons, genuine, impostor, ...")
      .def(
          "slots",
          [](const TrialSet& t, std::size_t track) { return t.tracks.at(track).trials->slots(); },
          py::arg("track") = 0, "The number of scores of a track, in its shape.")
      .def("units_of_scores", &units_of_scores, py::arg("track"), py::arg("begin"), py::arg("end"),
           "int32 (end - begin, 2): the units behind each score of a track; -1 where none is.")
      .def_property_readonly("lists", [](const TrialSet& t) {
        return dicts_of(t.lists, "role", &TrialList::role, "path", &TrialList::path, "sha256",
                        &TrialList::sha256, "notes", &TrialList::notes);
      });
}

}  // namespace facebench
