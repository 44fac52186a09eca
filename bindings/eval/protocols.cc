#include "facebench/protocols/evaluate.h"

#include <fmt/format.h>

#include "arrays.h"
#include "common.h"
#include "facebench/io/sha256.h"
#include "facebench/metrics/template_fusion.h"
#include "facebench/protocols/check_data.h"
#include "facebench/protocols/dense_trials.h"
#include "facebench/protocols/identification_trials.h"
#include "facebench/protocols/listed_trials.h"
#include "facebench/protocols/matrix_trials.h"
#include "facebench/protocols/measurable.h"
#include "facebench/protocols/metric.h"
#include "facebench/protocols/run_folder.h"
#include "facebench/protocols/score_files.h"
#include "facebench/protocols/scoring.h"
#include "facebench/protocols/spec.h"
#include "facebench/protocols/synthetic_ijb.h"
#include "facebench/protocols/without.h"
#include "json.h"
#include "modules.h"
#include "result_class.h"
#include "tables.h"

namespace facebench {
namespace {

using Labels = std::vector<std::string>;

py::object none_or(double value, bool there) {
  return there ? py::object(py::float_(value)) : py::object(py::none());
}

py::array comparisons_of(const ListedTrials& t) {
  std::vector<std::int32_t> pairs;
  for (const Comparison& c : t.comparisons) {
    pairs.push_back(c.first);
    pairs.push_back(c.second);
  }
  return to_numpy(std::move(pairs), {static_cast<py::ssize_t>(t.comparisons.size()), 2});
}

template <class T>
py::array copy_of(const std::vector<T>& values, std::vector<py::ssize_t> shape) {
  return to_numpy(std::vector<T>(values), std::move(shape));
}

py::array subjects_by_groups(const MatrixTrials& t, const std::vector<std::int32_t>& units) {
  return copy_of(units, {t.subjects(), static_cast<py::ssize_t>(t.groups.size())});
}

py::object scores_of(const Result& r, std::size_t track) {
  const auto shape = r.trials.tracks.at(track).trials->shape();
  const Scores& s = r.scores.at(track);
  if (s.tail) return py::cast(*s.tail);
  if (s.outcomes) return py::cast(std::make_shared<Searches>(*s.outcomes));
  if (!s.each_single.empty()) return copy_of(s.each_single, {shape.begin(), shape.end()});
  return copy_of(s.each, {shape.begin(), shape.end()});
}

// (scores, labels) of every comparison.
py::tuple labelled_scores_of(const Result& r, std::size_t track) {
  const Scores& kept = r.scores.at(track);
  if (!kept.all())
    throw py::value_error("the scores of this track are not all kept; see scores[track]");
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  visit_scores(*r.trials.tracks[track].trials, {r.trials, kept, "", {}},
               [&](double score, bool genuine) {
                 scores.push_back(score);
                 labels.push_back(genuine ? 1 : 0);
               });
  return py::make_tuple(to_numpy(std::move(scores)), to_numpy(std::move(labels)));
}

// The numbers of a matrix cell as an array; `get` picks one of each interval, or null of the value.
py::object matrix_of(const MatrixValue& m, double Interval::*bound) {
  std::vector<double> values = m.values;
  if (bound) {
    if (m.intervals.empty()) return py::none();
    values.clear();
    for (const Interval& i : m.intervals) values.push_back(i.*bound);
  }
  return to_numpy(std::move(values), {static_cast<py::ssize_t>(m.rows.size()),
                                      static_cast<py::ssize_t>(m.columns.size())});
}

py::object bound_of(const Number& n, double Interval::*bound) {
  if (n.matrix) return matrix_of(*n.matrix, bound);
  return none_or(n.interval ? (*n.interval).*bound : 0, n.interval.has_value());
}

const Interval* any_interval(const Number& n) {
  if (n.matrix) return n.matrix->intervals.empty() ? nullptr : &n.matrix->intervals.front();
  return n.interval ? &*n.interval : nullptr;
}

template <class T>
py::array copy_of(const std::vector<T>& values) {
  return to_numpy(std::vector<T>(values));
}

py::list failures(const std::vector<FailedSample>& failed) {
  py::list result;
  for (const FailedSample& f : failed)
    result.append(py::make_tuple(f.name, std::string(sample_status_name(f.status))));
  return result;
}

std::vector<SampleStatus> statuses(const std::vector<int>& numbers) {
  std::vector<SampleStatus> result;
  for (const int n : numbers) result.push_back(sample_status_of(n));
  return result;
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

void bind_trials(py::module_& m) {
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
      .def_property_readonly("lists", [](const TrialSet& t) {
        return dicts_of(t.lists, "role", &TrialList::role, "path", &TrialList::path, "sha256",
                        &TrialList::sha256, "notes", &TrialList::notes);
      });
}

// The counts that stand behind a number and are no result of a function of the metrics.
void bind_counts(py::module_& m) {
  ResultClass<ThresholdAtFar>(m, "ThresholdAtFar", "What the threshold for a FAR gives.")
      .field("at", &ThresholdAtFar::at, "the TAR there")
      .field("people", &ThresholdAtFar::people, "that it rests on; 0 where that is not known");
  ResultClass<RankRate>(m, "RankRate", "The identification rate at a rank.")
      .field("rank", &RankRate::rank, "")
      .field("mated", &RankRate::mated, "probes")
      .field("gallery_people", &RankRate::gallery_people, "in the gallery")
      .field("ties", &RankRate::ties, "how equal scores rank");
  ResultClass<TrackMean>(m, "TrackMean", "A mean over tracks.")
      .field("tracks", &TrackMean::tracks, "how many")
      .field("sd", &TrackMean::sd, "of the tracks' values")
      .field("standard_error", &TrackMean::standard_error, "sd / sqrt(tracks)")
      .field("mean_less_sd", &TrackMean::mean_less_sd, "where the protocol asks for it");
  ResultClass<MetricBounds>(m, "MetricBounds", "Where a number of all scores lies.")
      .field("low", &MetricBounds::low, "")
      .field("high", &MetricBounds::high, "");
  ResultClass<MatrixValue>(m, "MatrixValue", "A matrix of numbers, row by row.")
      .field("rows", &MatrixValue::rows, "labels")
      .field("columns", &MatrixValue::columns, "labels")
      .field("values", &MatrixValue::values, "")
      .field("intervals", &MatrixValue::intervals, "one a number, or none");
}

void bind_track_result(py::module_& m) {
  bind_counts(m);
  py::class_<Number>(m, "Number", "One number with the counts behind it.")
      .def(py::init<const Number&>(), py::arg("number"))
      .def_readonly("name", &Number::name)
      .def_property_readonly("value",
                             [](const Number& n) -> py::object {
                               if (n.matrix) return matrix_of(*n.matrix, nullptr);
                               return py::float_(n.value);
                             })
      .def_readonly("interval", &Number::interval, "None where there is none, and of a matrix.")
      .def_property_readonly("rows",
                             [](const Number& n) { return n.matrix ? n.matrix->rows : Labels{}; })
      .def_property_readonly(
          "columns", [](const Number& n) { return n.matrix ? n.matrix->columns : Labels{}; })
      .def_readonly("no_interval", &Number::no_interval)
      .def_property_readonly("low", [](const Number& n) { return bound_of(n, &Interval::low); })
      .def_property_readonly("high", [](const Number& n) { return bound_of(n, &Interval::high); })
      .def_property_readonly("level",
                             [](const Number& n) {
                               const Interval* i = any_interval(n);
                               return none_or(i ? i->level : 0, i != nullptr);
                             })
      .def_property_readonly("method",
                             [](const Number& n) {
                               const Interval* i = any_interval(n);
                               return i ? i->method : std::string("none");
                             })
      .def_property_readonly("interval_note",
                             [](const Number& n) {
                               const Interval* i = any_interval(n);
                               return i ? i->note : std::string();
                             })
      .def_property_readonly("details",
                             [](const Number& n) { return json_to_python(counts_json(n)); });
  py::class_<TrackResult>(m, "TrackResult", "The numbers of one track.")
      .def(py::init<const TrackResult&>(), py::arg("track"))
      .def_readonly("name", &TrackResult::name)
      .def_readonly("comparisons", &TrackResult::comparisons)
      .def_readonly("genuine", &TrackResult::genuine)
      .def_readonly("impostor", &TrackResult::impostor)
      .def_readonly("dropped", &TrackResult::dropped)
      .def_readonly("failed_comparisons", &TrackResult::failed_comparisons)
      .def_property_readonly("failure_to_enrol_rate", &TrackResult::failure_to_enrol_rate)
      .def_readonly("kind", &TrackResult::kind)
      .def_readonly("templates", &TrackResult::templates)
      .def_property_readonly("counts",
                             [](const TrackResult& t) { return dict_of_pairs(t.more_counts); })
      .def_readonly("samples", &TrackResult::samples)
      .def_readonly("identities", &TrackResult::identities)
      .def_property_readonly(
          "failed", [](const TrackResult& t) { return failures(t.failed); },
          "(name, status) of every failed enrolment.")
      .def_property_readonly(
          "left_out", [](const TrackResult& t) { return failures(t.left_out); },
          "(name, status) of every failed sample of a template that has others.")
      .def_readonly("numbers", &TrackResult::numbers);
}

void bind_result(py::module_& m) {
  py::class_<Result>(m, "Result", "The result of an evaluation.")
      .def_readonly("spec", &Result::spec)
      .def_readonly("options", &Result::options)
      .def_readonly("trials", &Result::trials)
      .def_readonly("tracks", &Result::tracks)
      .def_readonly("notes", &Result::notes)
      .def_readonly("warnings", &Result::warnings)
      .def_property_readonly(
          "scores",
          [](const Result& r) {
            py::list result;
            for (std::size_t t = 0; t < r.scores.size(); ++t) result.append(scores_of(r, t));
            return result;
          },
          "Per track, in the shape of its kind: float64 for lists and matrices, else float32. "
          "Where not\n"
          "all are kept: the ScoreTail of a dense track, the Searches of an identification.")
      .def("labelled_scores", &labelled_scores_of, py::arg("track") = 0,
           "(scores, labels) of every comparison of a track.")
      .def(
          "metrics", [](const Result& r) { return json_to_python(metrics_json(r)); },
          "The content of metrics.json.")
      .def(
          "add_note", [](Result& r, std::string note) { r.notes.push_back(note); }, py::arg("note"),
          "A sentence that stands with the notes about the lists.")
      .def(
          "add_input",
          [](Result& r, const std::string& role, const std::filesystem::path& path) {
            r.inputs.push_back({role, path, sha256_file(path)});
          },
          py::arg("role"), py::arg("path"), "Record a file that decided the numbers.");
}

void bind_evaluation(py::module_& m) {
  m.def("protocol_names", &protocol_names);
  m.def("load_protocol", &load_protocol, py::arg("name_or_path"));
  m.def(
      "parse_protocol",
      [](const std::string& text, const std::string& file) { return parse_protocol(text, file); },
      py::arg("text"), py::arg("file"));
  m.def(
      "read_trials",
      [](const ProtocolSpec& s, const std::filesystem::path& root,
         const std::filesystem::path& lists) {
        return read_trials(s, {root, {}, lists});
      },
      py::arg("protocol"), py::arg("root"), py::arg("lists"));
  m.def("refuse_blemishes", &refuse_blemishes, py::arg("trials"), py::arg("protocol"));
  m.def(
      "check_data",
      [](const ProtocolSpec& s, const std::filesystem::path& root,
         const std::filesystem::path& images, const std::filesystem::path& lists) {
        const DataCheck check = check_data(s, {root, images, lists});
        py::dict d = json_to_python(data_check_json(check));
        py::list sentences;
        for (const FoundBlemishes& kind : check.blemishes) sentences.append(blemish_sentence(kind));
        return py::make_tuple(d, sentences);
      },
      py::arg("protocol"), py::arg("root"), py::arg("images"), py::arg("lists"));
  m.def(
      "find_images",
      [](const ProtocolSpec& s, const TrialSet& t, const std::filesystem::path& root,
         const std::filesystem::path& images) {
        return find_images(s, t, {root, images, {}});
      },
      py::arg("protocol"), py::arg("trials"), py::arg("root"), py::arg("images"));
  m.def(
      "without",
      [](const TrialSet& t, const std::filesystem::path& path) {
        return without(t, read_exclusion(path));
      },
      py::arg("trials"), py::arg("path"));
  m.def("limited", &limited, py::arg("trials"), py::arg("limit"));
  m.def(
      "evaluate_embeddings",
      [](const ProtocolSpec& s, TrialSet t, const EmbeddingSet& e, const EvaluationOptions& o,
         int threads, const py::object& progress) {
        return with_job(threads, progress, [&](const Job& job) {
          return evaluate(under(s, std::move(t)), e, o, job);
        });
      },
      py::arg("protocol"), py::arg("trials"), py::arg("embeddings"), py::arg("options"),
      py::arg("threads"), py::arg("progress"));
  m.def(
      "evaluate_file",
      [](const ProtocolSpec& s, TrialSet t, const std::filesystem::path& path,
         const std::vector<std::filesystem::path>& shards, const EvaluationOptions& o, int threads,
         const py::object& progress) {
        return with_job(threads, progress, [&](const Job& job) {
          return evaluate(under(s, std::move(t)), read_embeddings(path), o, job, shards);
        });
      },
      py::arg("protocol"), py::arg("trials"), py::arg("path"), py::arg("shards"),
      py::arg("options"), py::arg("threads"), py::arg("progress"));
  m.def(
      "write_tail_shard",
      [](const ProtocolSpec& s, TrialSet t, const std::filesystem::path& path,
         const std::string& shard, const std::filesystem::path& out, const EvaluationOptions& o,
         int threads, const py::object& progress) {
        with_job(threads, progress, [&](const Job& job) {
          write_tail_shard(under(s, std::move(t)), read_embeddings(path), parse_shard(shard), out,
                           o, job);
        });
      },
      py::arg("protocol"), py::arg("trials"), py::arg("path"), py::arg("shard"), py::arg("out"),
      py::arg("options"), py::arg("threads"), py::arg("progress"));
  m.def(
      "evaluate_scores",
      [](const ProtocolSpec& s, TrialSet t, const py::object& scores,
         const std::vector<int>& status, const EvaluationOptions& o, int threads,
         const py::object& progress) {
        const std::vector<double> values = numbers(scores, "scores");
        const auto samples = statuses(status);
        return with_job(threads, progress, [&](const Job& job) {
          return evaluate_scores(under(s, std::move(t)), values, samples, o, job);
        });
      },
      py::arg("protocol"), py::arg("trials"), py::arg("scores"), py::arg("status"),
      py::arg("options"), py::arg("threads"), py::arg("progress"));
  m.def(
      "read_result",
      [](const std::filesystem::path& folder, int threads) {
        return with_job(threads, py::none(),
                        [&](const Job& job) { return read_result(folder, job); });
      },
      py::arg("folder"), py::arg("threads") = 0);
  m.def("read_scores_csv", &read_scores_csv, py::arg("path"), py::arg("trials"));
  m.def(
      "read_scored_list",
      [](const std::vector<std::filesystem::path>& files, const std::string& form) {
        ScoredList list = read_scored_list(files, form);
        return py::make_tuple(std::move(list.trials), copy_of(list.scores), list.turned);
      },
      py::arg("files"), py::arg("form"));
}

void bind_synthetic_ijb(py::module_& m) {
  bind_options<SyntheticIjbOptions>(m);
  m.def(
      "write_synthetic_ijb",
      [](const SyntheticIjbOptions& options, const std::filesystem::path& folder, int threads,
         const py::object& progress) {
        const SyntheticIjbSummary s = with_job(threads, progress, [&](const Job& job) {
          return write_synthetic_ijb(options, folder, job);
        });
        py::dict d;
        d["folder"] = s.folder.string();
        d["templates"] = s.templates;
        d["faces"] = s.faces;
        d["comparisons"] = s.comparisons;
        return d;
      },
      py::arg("options"), py::arg("folder"), py::arg("threads") = 0,
      py::arg("progress") = py::none());
}

void bind_protocol_tables(py::module_& m) {
  m.def(
      "list_conventions",
      [] {
        return table_list(conventions(), "accuracy", &Convention::accuracy, "tar_at_far",
                          &Convention::tar_at_far, "identification", &Convention::identification);
      },
      R"(The named ways of computing published numbers: name, one line, and the rule of each metric.

``accuracy``, ``tar_at_far``, ``identification``: a name in the table of that metric (see
`facebench.metrics.accuracy_conventions` and its like), "" where there is no rule; a protocol
computes that metric exactly then, unless it gets a rule of its own (``accuracy_convention``,
``tar_at_far_convention``, ``identification_convention``).

>>> from facebench.protocols import list_conventions
>>> next(c for c in list_conventions() if c["name"] == "ijb_1n")["identification"]
'ijb_1n'
)");
  m.def(
      "failure_policies", [] { return table_list(failure_policies()); },
      R"(What becomes of a comparison with a failed enrolment: name and one line.

>>> from facebench.protocols import failure_policies
>>> "lowest_score" in [p["name"] for p in failure_policies()]
True
)");
  m.def(
      "interval_methods", [] { return table_list(interval_methods()); },
      R"(How the interval of a number is found: name and one line.

>>> from facebench.protocols import interval_methods
>>> "dyadic" in [m["name"] for m in interval_methods()]
True
)");
  m.def(
      "score_forms",
      [] {
        return table_list(score_forms(), "source", &ScoreForm::source, "files", &ScoreForm::files);
      },
      R"(The forms of score files that say themselves which scores are genuine: name, one line, how
many files, and whose they are. `evaluate` reads them.

>>> from facebench.protocols import score_forms
>>> [form["name"] for form in score_forms() if form["files"] == 2]
['genuine_impostor', 'bee']
)");
  m.def("trial_kinds", [] { return table_list(trial_kinds()); });
  m.def(
      "template_fusions",
      [] { return table_list(template_fusions(), "source", &TemplateFusion::source); },
      R"(The ways in which the samples of a template become one embedding: name, one line and source.

>>> from facebench.protocols import template_fusions
>>> "mean_raw" in [f["name"] for f in template_fusions()]
True
)");
  m.def(
      "ijb_scripts",
      [] { return table_list(ijb_scripts(), "n1_keeps_norms", &IjbScript::n1_keeps_norms); },
      "The scripts for IJB-B and IJB-C that print labels such as N1D1F1, and what their N1 means.");
  m.def(
      "ijb_label",
      [](const std::string& label, const std::string& script) {
        return dict_of(ijb_label(label, script), "fusion", &IjbLabel::fusion, "flip",
                       &IjbLabel::flip);
      },
      py::arg("label"), py::arg("script"),
      R"(What a label such as N1D1F1 means in a script: ``fusion`` and ``flip``.

The letter N means the opposite in two families of scripts.

>>> from facebench.protocols import ijb_label
>>> ijb_label("N1D1F1", "eval_ijbc") == ijb_label("N0D1F1", "ijb_evals")
True
)");
  m.def("trial_readers", [] { return table_list(trial_readers()); });
  m.def(
      "blemish_rules", [] { return table_list(blemish_rules(), "rule", &BlemishRule::rule); },
      R"(What lists may have wrong and are evaluated all the same: name, what it is, and the rule.

>>> from facebench.protocols import blemish_rules
>>> [r["rule"] for r in blemish_rules() if r["name"] == "repeated_pair"]
['every row counts']
)");
  m.def("expected_count_names", [] { return table_list(expected_count_names()); });
  m.def(
      "protocol_metrics",
      [] {
        return table_list(protocol_metrics(), "applies_to", &Metric::applies_to,
                          "targets_are_ranks", &Metric::targets_are_ranks);
      },
      R"(What a protocol can ask for: name, one line, and what it applies to.

>>> from facebench.protocols import protocol_metrics
>>> "eer" in [m["name"] for m in protocol_metrics()]
True
)");
}

}  // namespace

void bind_protocols(py::module_& m) {
  bind_options<EvaluationOptions>(m);
  bind_spec(m);
  bind_trials(m);
  bind_track_result(m);
  bind_result(m);
  bind_evaluation(m);
  bind_protocol_tables(m);
  bind_synthetic_ijb(m);
  bind_published(m);
  bind_pickled_result(m);
}

}  // namespace facebench
