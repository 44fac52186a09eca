#include "facebench/protocols/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "facebench/core/error.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/protocols/scoring.h"

namespace facebench {
namespace {

template <class Named>
const Named& by_name(std::string_view kind, const std::vector<Named>& all, std::string_view name) {
  std::vector<std::string> names;
  for (const Named& one : all) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  throw std::invalid_argument(unknown_name_message(kind, name, names));
}

// The side that failed, or ok.
SampleStatus status_of(const Comparison& c, std::span<const SampleStatus> status) {
  const SampleStatus first = status[static_cast<std::size_t>(c.first)];
  return first != SampleStatus::ok ? first : status[static_cast<std::size_t>(c.second)];
}

// The comparisons of a track that are measured, as parallel arrays.
struct Measured {
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  std::vector<std::int32_t> folds, first, second;
};

Measured select(const Track& track, const TrialSet& trials, std::span<const SampleStatus> status,
                const std::vector<double>& scores, bool drop) {
  Measured m;
  for (std::size_t k = 0; k < track.comparisons.size(); ++k) {
    const Comparison& c = track.comparisons[k];
    if (drop && status_of(c, status) != SampleStatus::ok) continue;
    m.scores.push_back(scores[k]);
    m.labels.push_back(track.genuine[k]);
    if (!track.fold.empty()) m.folds.push_back(track.fold[k]);
    m.first.push_back(trials.identity[static_cast<std::size_t>(c.first)]);
    m.second.push_back(trials.identity[static_cast<std::size_t>(c.second)]);
  }
  return m;
}

void count(const Track& track, const TrialSet& trials, std::span<const SampleStatus> status,
           const Measured& m, TrackResult& r) {
  r.comparisons = static_cast<std::int64_t>(m.scores.size());
  r.genuine = std::accumulate(m.labels.begin(), m.labels.end(), std::int64_t{0});
  r.impostor = r.comparisons - r.genuine;
  r.dropped = static_cast<std::int64_t>(track.comparisons.size()) - r.comparisons;
  std::vector<bool> seen(trials.names.size()), person(trials.identity_names.size());
  for (const Comparison& c : track.comparisons) {
    if (status_of(c, status) != SampleStatus::ok) ++r.failed_comparisons;
    for (const std::int32_t s : {c.first, c.second}) {
      const auto i = static_cast<std::size_t>(s);
      if (seen[i]) continue;
      seen[i] = true;
      person[static_cast<std::size_t>(trials.identity[i])] = true;
      if (status[i] != SampleStatus::ok) r.failed.push_back({trials.names[i], status[i]});
    }
  }
  r.samples = std::count(seen.begin(), seen.end(), true);
  r.identities = std::count(person.begin(), person.end(), true);
}

TrackResult measure_track(const ProtocolSpec& spec, const EvaluationOptions& options,
                          const TrialSet& trials, std::span<const SampleStatus> status,
                          const Track& track, const std::vector<double>& scores, const Job& job) {
  TrackResult result;
  result.name = track.name;
  const Measured m =
      select(track, trials, status, scores, failure_policies().at(options.failed_enrolments).drop);
  count(track, trials, status, m, result);
  const std::string where = fmt::format("protocol {}, track {}", spec.id, track.name);
  if (result.genuine == 0 || result.impostor == 0)
    fail(where,
         fmt::format("{} genuine and {} impostor comparisons are left of {}", result.genuine,
                     result.impostor, track.comparisons.size()),
         "Both kinds are needed.");

  const auto data = std::make_shared<const Comparisons>(m.scores, m.labels, m.folds);
  const Convention& convention = conventions().at(options.convention);
  const IntervalMethod& method = interval_methods().at(options.interval);
  std::vector<Statistic> statistics;
  try {
    for (const MetricRequest& request : spec.metrics) {
      const Metric& metric = protocol_metrics().at(request.name);
      if (metric.needs_folds && data->fold_count() < 2)
        fail(where, fmt::format("the list has no folds, which {} needs", metric.name),
             "Take the metric out of the protocol, or use a list with folds.");
      const std::vector<double> once = {0.0};
      for (const double target : metric.takes_targets ? request.targets : once) {
        result.cells.push_back(metric.measure(*data, target, convention));
        if (method.make) statistics.push_back(metric.statistic(data, target, convention));
      }
    }
  } catch (const std::invalid_argument& e) {
    // The metrics know nothing of protocols: what they refuse is here a property of the data.
    fail(where, e.what(), fmt::format("The convention is '{}'.", options.convention));
  }
  if (method.make) {
    const BootstrapOptions bootstrap{options.replicates, options.level, options.seed};
    const auto intervals = method.make({m.first, m.second, m.folds}, statistics, bootstrap, job);
    for (std::size_t i = 0; i < intervals.size(); ++i) result.cells[i].interval = intervals[i];
  }
  return result;
}

void check_strict(const EvaluationResult& r) {
  if (!r.options.strict) return;
  for (const TrackResult& t : r.tracks)
    if (!t.failed.empty())
      fail(fmt::format("protocol {}, track {}", r.spec.id, t.name),
           fmt::format("{} of {} samples could not be enrolled, the first is {} ({})",
                       t.failed.size(), t.samples, t.failed[0].name,
                       sample_status_name(t.failed[0].status)),
           "Without 'strict' they are counted as the protocol says.");
}

// The fields that both ways of evaluating share.
EvaluationResult begin(const ProtocolSpec& spec, const TrialSet& trials,
                       const EvaluationOptions& options) {
  EvaluationResult r;
  r.spec = spec;
  r.options = resolve_options(spec, options);
  trials.check();
  r.trials = trials;
  for (const TrialList& list : trials.lists) {
    r.inputs.push_back({list.role, list.path, list.sha256});
    for (const std::string& note : list.notes)
      r.notes.push_back(fmt::format("{} {}.", list.path.filename().string(), note));
  }
  for (std::string& difference : differences_from_official(spec, trials))
    r.notes.push_back(std::move(difference));
  return r;
}

void finish(EvaluationResult& r, const Job& job) {
  r.tracks = measure_tracks(r.spec, r.options, r.trials, r.status, r.scores, job);
  check_strict(r);
}

// Of what decides the scores, not of a file: the same for an array and for the file it came from.
std::string embeddings_hash(const EmbeddingSet& e) {
  Sha256 hash;
  hash.update(fmt::format("{} {}\n", e.size(), e.dim));
  for (std::size_t i = 0; i < e.size(); ++i)
    hash.update(fmt::format("{} {}\n", static_cast<int>(e.status[i]), e.names[i]));
  hash.update(std::as_bytes(std::span(e.values)));
  return hash.hex();
}

}  // namespace

const MetricCell& TrackResult::cell(std::string_view metric) const {
  return by_name("metric of this track", cells, metric);
}

const TrackResult& EvaluationResult::track(std::string_view name) const {
  return by_name("track", tracks, name);
}

EvaluationOptions resolve_options(const ProtocolSpec& spec, const EvaluationOptions& options) {
  check_options(options);
  EvaluationOptions r = options;
  if (r.convention.empty()) r.convention = spec.convention;
  if (r.failed_enrolments.empty()) r.failed_enrolments = spec.failed_enrolments;
  if (r.interval.empty()) r.interval = spec.interval;
  conventions().at(r.convention);
  failure_policies().at(r.failed_enrolments);
  interval_methods().at(r.interval);
  return r;
}

std::vector<TrackResult> measure_tracks(const ProtocolSpec& spec, const EvaluationOptions& options,
                                        const TrialSet& trials,
                                        std::span<const SampleStatus> status,
                                        std::span<const std::vector<double>> scores,
                                        const Job& job) {
  std::vector<TrackResult> results;
  for (std::size_t t = 0; t < trials.tracks.size(); ++t)
    results.push_back(
        measure_track(spec, options, trials, status, trials.tracks[t], scores[t], job));
  return results;
}

EvaluationResult evaluate(const ProtocolSpec& spec, const TrialSet& trials,
                          const EmbeddingSet& embeddings, const EvaluationOptions& options,
                          const Job& job) {
  EvaluationResult r = begin(spec, trials, options);
  const auto rows = static_cast<std::int64_t>(embeddings.size());
  if (embeddings.dim < 1 || embeddings.status.size() != embeddings.size() ||
      static_cast<std::int64_t>(embeddings.values.size()) != rows * embeddings.dim)
    throw std::invalid_argument(
        fmt::format("embeddings: {} values for {} names of {} dimensions and {} statuses",
                    embeddings.values.size(), rows, embeddings.dim, embeddings.status.size()));
  const SampleRows samples = find_samples(r.trials, embeddings, spec.match);
  r.status = samples.status;
  r.score = "cosine";
  for (const Track& track : r.trials.tracks)
    r.scores.push_back(cosine_scores(track, samples, embeddings, job));
  r.embeddings = {{"sha256", embeddings_hash(embeddings)},
                  {"dim", embeddings.dim},
                  {"rows", rows},
                  {"manifest", embeddings.manifest}};
  finish(r, job);
  return r;
}

EvaluationResult evaluate_scores(const ProtocolSpec& spec, const TrialSet& trials,
                                 std::span<const double> scores,
                                 std::span<const SampleStatus> status,
                                 const EvaluationOptions& options, const Job& job) {
  EvaluationResult r = begin(spec, trials, options);
  r.score = "given";
  r.status.assign(r.trials.names.size(), SampleStatus::ok);
  if (!status.empty()) {
    if (status.size() != r.status.size())
      throw std::invalid_argument(
          fmt::format("{} statuses for {} samples", status.size(), r.status.size()));
    r.status.assign(status.begin(), status.end());
  }
  std::size_t total = 0;
  for (const Track& track : r.trials.tracks) total += track.comparisons.size();
  if (scores.size() != total)
    fail("scores", fmt::format("{} scores for {} comparisons", scores.size(), total),
         "One score a comparison, in the order of the lists.");
  std::size_t row = 0;
  for (const Track& track : r.trials.tracks) {
    std::vector<double> own, good;
    for (const Comparison& c : track.comparisons) {
      const double score = scores[row++];
      own.push_back(score);
      if (status_of(c, r.status) != SampleStatus::ok) continue;
      if (!std::isfinite(score))
        fail("scores", fmt::format("row {} is {}, not a finite number", row - 1, score),
             "Where an enrolment failed, give the sample's status.");
      good.push_back(score);
    }
    const double lowest = failed_score(good);
    for (std::size_t k = 0; k < own.size(); ++k)
      if (status_of(track.comparisons[k], r.status) != SampleStatus::ok) own[k] = lowest;
    r.scores.push_back(std::move(own));
  }
  finish(r, job);
  return r;
}

std::vector<double> read_scores_csv(const std::filesystem::path& path, const TrialSet& trials) {
  const CsvTable csv = read_csv(path);
  const std::size_t column = csv.column("score");
  std::vector<double> scores;
  std::size_t row = 0;
  for (const Track& track : trials.tracks) {
    for (const Comparison& c : track.comparisons) {
      if (row >= csv.rows())
        fail(csv.name(), fmt::format("{} scores, the lists have more comparisons", csv.rows()),
             "One row a comparison, in the order of the lists.");
      for (const auto& [key, sample] : {std::pair{"first", c.first}, {"second", c.second}}) {
        if (!csv.has_column(key)) continue;
        const std::string& name = csv.cell(row, csv.column(key));
        const std::string& wanted = trials.names[static_cast<std::size_t>(sample)];
        if (name != wanted)
          fail(at_line(csv.name(), csv.place(row).line),
               fmt::format("column {} is {} where the list has {}", key, name, wanted),
               "Rows are in the order of the lists.");
      }
      scores.push_back(csv.number(row, column));
      ++row;
    }
  }
  if (row != csv.rows())
    fail(at_line(csv.name(), csv.place(row).line),
         fmt::format("{} rows for {} comparisons", csv.rows(), row),
         "One row a comparison, in the order of the lists.");
  return scores;
}

Json metrics_json(const ProtocolSpec& spec, const EvaluationOptions& options,
                  std::span<const TrackResult> tracks) {
  Json json = {{"protocol", {{"id", spec.id}, {"version", spec.version}, {"sha256", spec.sha256}}},
               {"convention", options.convention},
               {"tracks", Json::object()}};
  for (const TrackResult& t : tracks) {
    Json& out = json["tracks"][t.name];
    out["counts"] = {{"comparisons", t.comparisons},
                     {"genuine", t.genuine},
                     {"impostor", t.impostor},
                     {"failed_enrolments", t.failed.size()}};
    out["metrics"] = Json::object();
    for (const MetricCell& cell : t.cells) {
      Json& c = out["metrics"][cell.name] = cell.details;
      c["value"] = cell.value;
      c["interval"] = nullptr;
      c["level"] = nullptr;
      c["method"] = "none";
      if (!cell.interval) continue;
      const Interval& i = *cell.interval;
      if (std::isfinite(i.low) && std::isfinite(i.high)) c["interval"] = {i.low, i.high};
      c["level"] = i.level;
      c["method"] = i.method;
      c["replicates"] = i.replicates;
      c["replicates_undefined"] = i.undefined;
    }
  }
  return json;
}

}  // namespace facebench
