// Results as what pickle takes: the scores as the bytes of scores.h5, the numbers field by field,
// so that nothing is computed again.

#include <filesystem>
#include <limits>
#include <optional>

#include "common.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/io/file.h"
#include "facebench/runs/run_folder.h"
#include "json.h"
#include "modules.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// Python's own folder for passing files, removed at the end of the scope.
class ScratchFolder {
 public:
  ScratchFolder() : folder_(py::module_::import("tempfile").attr("TemporaryDirectory")()) {}
  ~ScratchFolder() {
    try {
      folder_.attr("cleanup")();
    } catch (py::error_already_set& e) {
      e.discard_as_unraisable("ScratchFolder");
    }
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  fs::path path() const { return folder_.attr("name").cast<fs::path>(); }

 private:
  py::object folder_;
};

py::tuple number_state(const Number& n) {
  return py::make_tuple(n.name, n.value, n.interval, n.no_interval, n.counts, n.from_histogram,
                        n.bounds, n.matrix);
}

Number number_of(const py::tuple& t) {
  return {t[0].cast<std::string>(),
          t[1].cast<double>(),
          t[2].cast<std::optional<Interval>>(),
          t[3].cast<std::string>(),
          t[4].cast<Counts>(),
          t[5].cast<bool>(),
          t[6].cast<std::optional<MetricBounds>>(),
          t[7].cast<std::optional<MatrixValue>>()};
}

py::list failed_state(const std::vector<FailedSample>& failed) {
  py::list result;
  for (const FailedSample& f : failed)
    result.append(py::make_tuple(f.name, static_cast<int>(f.status)));
  return result;
}

std::vector<FailedSample> failed_of(const py::handle& state) {
  std::vector<FailedSample> result;
  for (const py::handle& f : state) {
    const auto t = f.cast<py::tuple>();
    result.push_back({t[0].cast<std::string>(), sample_status_of(t[1].cast<int>())});
  }
  return result;
}

py::tuple track_state(const TrackResult& r) {
  py::list numbers;
  for (const Number& n : r.numbers) numbers.append(number_state(n));
  return py::make_tuple(r.name, r.kind, r.comparisons, r.genuine, r.impostor, r.dropped,
                        r.failed_comparisons, r.templates, r.samples, r.identities,
                        failed_state(r.failed), failed_state(r.left_out), r.more_counts, numbers);
}

TrackResult track_of(const py::tuple& t) {
  TrackResult r;
  r.name = t[0].cast<std::string>();
  r.kind = t[1].cast<std::string>();
  std::int64_t* counts[] = {&r.comparisons,        &r.genuine,   &r.impostor, &r.dropped,
                            &r.failed_comparisons, &r.templates, &r.samples,  &r.identities};
  for (std::size_t i = 0; i < std::size(counts); ++i) *counts[i] = t[2 + i].cast<std::int64_t>();
  r.failed = failed_of(t[10]);
  r.left_out = failed_of(t[11]);
  r.more_counts = t[12].cast<decltype(r.more_counts)>();
  for (const py::handle& n : t[13]) r.numbers.push_back(number_of(n.cast<py::tuple>()));
  return r;
}

py::list blemishes_state(const std::vector<FoundBlemishes>& blemishes) {
  py::list result;
  for (const FoundBlemishes& kind : blemishes) {
    py::list first;
    for (const Blemish& b : kind.first) first.append(py::make_tuple(b.file, b.line, b.what));
    result.append(py::make_tuple(static_cast<int>(kind.kind), kind.count, first));
  }
  return result;
}

std::vector<FoundBlemishes> blemishes_of(const py::handle& state) {
  std::vector<FoundBlemishes> result;
  for (const py::handle& item : state) {
    const auto t = item.cast<py::tuple>();
    FoundBlemishes kind{static_cast<BlemishKind>(t[0].cast<int>()), t[1].cast<std::int64_t>(), {}};
    for (const py::handle& first : t[2]) {
      const auto b = first.cast<py::tuple>();
      kind.first.push_back(
          {b[0].cast<std::string>(), b[1].cast<std::int64_t>(), b[2].cast<std::string>()});
    }
    result.push_back(std::move(kind));
  }
  return result;
}

py::tuple result_state(const Result& r) {
  const ScratchFolder scratch;
  write_run_files(scratch.path(), r);
  py::list tracks, inputs, lists;
  for (const TrackResult& t : r.tracks) tracks.append(track_state(t));
  for (const RunInput& i : r.inputs) inputs.append(py::make_tuple(i.role, i.path, i.sha256));
  for (const TrialList& l : r.trials.lists)
    lists.append(py::make_tuple(l.role, l.path, l.sha256, l.notes));
  return py::make_tuple(
      py::bytes(read_file(scratch.path() / "scores.h5", std::numeric_limits<std::uint64_t>::max())),
      r.score, tracks, inputs, lists, r.trials.notes, r.notes, r.warnings,
      json_to_python(r.embeddings), blemishes_state(r.trials.blemishes),
      json_to_python(curves_json(r.curves)));
}

Result result_of(const py::tuple& t) {
  const ScratchFolder scratch;
  write_file(scratch.path() / "scores.h5", t[0].cast<std::string>());
  Result r;
  RunScores scores = read_scores(scratch.path() / "scores.h5");
  r.backend = scores.content.value("backend", Json());
  static_cast<ScoredTrials&>(r) = std::move(scores);
  r.score = t[1].cast<std::string>();
  for (const py::handle& track : t[2]) r.tracks.push_back(track_of(track.cast<py::tuple>()));
  for (const py::handle& item : t[3]) {
    const auto i = item.cast<py::tuple>();
    r.inputs.push_back({i[0].cast<std::string>(), i[1].cast<fs::path>(), i[2].cast<std::string>()});
  }
  for (const py::handle& item : t[4]) {
    const auto l = item.cast<py::tuple>();
    r.trials.lists.push_back({l[0].cast<std::string>(), l[1].cast<fs::path>(),
                              l[2].cast<std::string>(), l[3].cast<std::vector<std::string>>()});
  }
  r.trials.notes = t[5].cast<std::vector<std::string>>();
  r.notes = t[6].cast<std::vector<std::string>>();
  r.warnings = t[7].cast<std::vector<std::string>>();
  r.embeddings = json_from_python(t[8]);
  r.trials.blemishes = blemishes_of(t[9]);
  r.curves = curves_from_json(json_from_python(t[10]), "curves");
  return r;
}

}  // namespace

void bind_pickled_result(py::module_& m) {
  py::class_<Number>(m.attr("Number")).def(py::pickle(&number_state, &number_of));
  py::class_<TrackResult>(m.attr("TrackResult")).def(py::pickle(&track_state, &track_of));
  py::class_<Result>(m.attr("Result")).def(py::pickle(&result_state, &result_of));
}

}  // namespace facebench
