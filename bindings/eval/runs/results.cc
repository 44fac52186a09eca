#include "arrays.h"
#include "common.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/evaluation/metric.h"
#include "facebench/io/sha256.h"
#include "facebench/runs/run_folder.h"
#include "facebench/runs/table.h"
#include "facebench/trials/measurable.h"
#include "facebench/trials/scoring.h"
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

// The number as reports print it: its title, whether it is in percent, and its texts.
py::dict written(const Number& n) {
  const auto text = [&](double value) { return metric_text(n.name, value); };
  py::dict d;
  d["title"] = metric_title(n.name);
  d["is_rate"] = metric_is_rate(n.name);
  if (n.matrix) return d;
  d["value"] = text(n.value);
  if (n.interval) d["interval"] = py::make_tuple(text(n.interval->low), text(n.interval->high));
  if (n.bounds) d["bounds"] = py::make_tuple(text(n.bounds->low), text(n.bounds->high));
  return d;
}

py::list failures(const std::vector<FailedSample>& failed) {
  py::list result;
  for (const FailedSample& f : failed)
    result.append(py::make_tuple(f.name, std::string(sample_status_name(f.status))));
  return result;
}

// The counts that stand behind a number and are not a result of a function of the metrics.
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
      .def_property_readonly("written", &written)
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

}  // namespace

void bind_result(py::module_& m) {
  bind_track_result(m);
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

}  // namespace facebench
