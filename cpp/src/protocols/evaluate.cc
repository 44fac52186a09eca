#include "facebench/protocols/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/metrics/summary.h"
#include "facebench/metrics/template_fusion.h"
#include "facebench/protocols/scoring.h"
#include "facebench/protocols/track_side.h"

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

// Who is compared, and who of them could not be enrolled.
void count_units(const TrialSet& trials, std::span<const SampleStatus> sample_status,
                 std::span<const SampleStatus> unit_status, const Track& track, TrackResult& r) {
  const std::vector<std::int32_t> units = kind_of(track).units(track);
  std::vector<bool> seen(trials.names.size()), person(trials.identity_names.size());
  const Templates& t = trials.templates;
  if (t.size() > 0) r.templates = static_cast<std::int64_t>(units.size());
  for (const std::int32_t u : units) {
    const auto unit = static_cast<std::size_t>(u);
    const bool failed = unit_status[unit] != SampleStatus::ok;
    if (failed) r.failed.push_back({trials.unit_name(u), unit_status[unit]});
    person[static_cast<std::size_t>(trials.unit_identity(u))] = true;
    if (t.size() == 0) {
      seen[unit] = true;
      continue;
    }
    for (auto i = static_cast<std::size_t>(t.begin[unit]);
         i < static_cast<std::size_t>(t.begin[unit + 1]); ++i) {
      const auto s = static_cast<std::size_t>(t.sample[i]);
      if (!seen[s] && !failed && sample_status[s] != SampleStatus::ok)
        r.left_out.push_back({trials.names[s], sample_status[s]});
      seen[s] = true;
    }
  }
  r.samples = std::count(seen.begin(), seen.end(), true);
  r.identities = std::count(person.begin(), person.end(), true);
}

// Mean and standard deviation of every number that all tracks have.
TrackResult mean_over_tracks(std::span<const TrackResult> tracks) {
  TrackResult mean;
  mean.name = "mean";
  mean.kind = "summary";
  for (const TrackResult& t : tracks) {
    mean.comparisons += t.comparisons;
    mean.genuine += t.genuine;
    mean.impostor += t.impostor;
    mean.dropped += t.dropped;
    mean.failed_comparisons += t.failed_comparisons;
  }
  for (const MetricCell& first : tracks.front().cells) {
    std::vector<double> values;
    for (const TrackResult& t : tracks)
      for (const MetricCell& c : t.cells)
        if (c.name == first.name && !c.matrix && std::isfinite(c.value)) values.push_back(c.value);
    if (values.size() != tracks.size()) continue;
    const Moments m = moments(values);
    MetricCell& cell = mean.cells.emplace_back();
    cell.name = first.name;
    cell.value = m.mean;
    cell.details["tracks"] = m.count;
    const auto number = [](double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); };
    cell.details["sd"] = number(m.sd);
    cell.details["standard_error"] = number(m.sd / std::sqrt(static_cast<double>(m.count)));
  }
  return mean;
}

// Faces that the embeddings hold beside the one of a sample ("NAME#K"), where they say so.
std::int64_t samples_with_more_faces(const TrialSet& trials, const EmbeddingSet& embeddings) {
  std::unordered_set<std::string_view> several;
  for (const std::string& name : embeddings.names)
    if (const std::size_t at = name.rfind('#'); at != std::string::npos)
      several.insert(std::string_view(name).substr(0, at));
  return std::ranges::count_if(trials.names,
                               [&](const std::string& n) { return several.contains(n); });
}

void check_strict(const EvaluationResult& r) {
  if (!r.options.strict) return;
  for (const TrackResult& t : r.tracks)
    for (const auto* failed : {&t.failed, &t.left_out})
      if (!failed->empty())
        fail(fmt::format("protocol {}, track {}", r.spec.id, t.name),
             fmt::format("{} of {} {} could not be enrolled, the first is {} ({})", failed->size(),
                         failed == &t.failed && t.templates ? t.templates : t.samples,
                         failed == &t.failed && t.templates ? "templates" : "samples",
                         failed->front().name, sample_status_name(failed->front().status)),
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
  r.notes.insert(r.notes.end(), trials.notes.begin(), trials.notes.end());
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

std::int64_t score_slots(const Track& track) {
  std::int64_t slots = 1;
  for (const std::int64_t n : kind_of(track).shape(track)) slots *= n;
  return slots;
}

// Scores of one track as given, with failed_score() where a side failed and 0 where nothing is
// compared. `first_row` is that of the whole list, for messages.
TrackScores given_scores(const Track& track, std::span<const SampleStatus> units,
                         std::span<const double> given, std::size_t first_row) {
  const TrackKind& kind = kind_of(track);
  std::vector<double> own(given.size(), 0.0), good;
  std::vector<std::size_t> failed;
  for (std::size_t k = 0; k < given.size(); ++k) {
    const auto sides = kind.sides(track, static_cast<std::int64_t>(k));
    if (!sides) continue;
    if (status_of(*sides, units) != SampleStatus::ok) {
      failed.push_back(k);
      continue;
    }
    // What is kept as float must be finite as such, too.
    const double score = kind.single ? static_cast<double>(static_cast<float>(given[k])) : given[k];
    if (!std::isfinite(score))
      fail("scores", fmt::format("row {} is {}, not a finite number", first_row + k, given[k]),
           "Where an enrolment failed, give the sample's status.");
    good.push_back(own[k] = score);
  }
  const double lowest = failed_score(good);
  for (const std::size_t k : failed) own[k] = lowest;
  if (kind.single) return std::vector<float>(own.begin(), own.end());
  return own;
}

// Tracks of which more comparisons than `options.stored_scores` would have to be kept turn into
// ones that keep the highest scores (twice what the highest target asks for, since a bootstrap
// replicate may need more, in bounded memory), or the outcome of each search.
void shorten_large_tracks(EvaluationResult& r) {
  constexpr double most = 1e7;
  double wanted = 0;
  for (const MetricRequest& request : r.spec.metrics) {
    const Metric& metric = protocol_metrics().at(request.name);
    if (metric.takes_targets && metric.all_pairs.cell)
      for (const double far : request.targets) wanted = std::max(wanted, 2 * far);
  }
  for (Track& track : r.trials.tracks) {
    auto* dense = std::get_if<DenseTrials>(&track.trials);
    auto* searches = std::get_if<IdentificationTrials>(&track.trials);
    if (!searches && !(dense && dense->mask.empty())) continue;
    const TrackSize size = track_size(track, r.trials);
    const std::int64_t impostors = size.comparisons - size.genuine;
    if (size.comparisons <= r.options.stored_scores) continue;
    if (searches) {
      searches->outcomes_only = true;
      r.notes.push_back(
          fmt::format("Track {}: of {} comparisons the outcome of each search is kept.", track.name,
                      size.comparisons));
      continue;
    }
    if (impostors == 0) continue;
    const double far = std::min({1.0, std::max(wanted, 1000 / static_cast<double>(impostors)),
                                 most / static_cast<double>(impostors)});
    track.trials =
        AllPairsTrials{std::move(dense->rows), std::move(dense->columns), dense->triangle, far};
    r.notes.push_back(
        fmt::format("Track {}: of {} comparisons the genuine scores and the highest impostor "
                    "scores are kept; what needs the others is bounded by a histogram.",
                    track.name, size.comparisons));
  }
}

Json matrix_rows(const std::vector<double>& values, std::size_t columns) {
  Json rows = Json::array();
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k % columns == 0) rows.push_back(Json::array());
    rows.back().push_back(std::isfinite(values[k]) ? Json(values[k]) : Json(nullptr));
  }
  return rows;
}

Json bounds(const Interval& i) {
  if (!std::isfinite(i.low) || !std::isfinite(i.high)) return nullptr;
  return {i.low, i.high};
}

Json cell_json(const MetricCell& cell) {
  Json c = cell.details;
  c["value"] = cell.value;
  c["interval"] = nullptr;
  c["level"] = nullptr;
  c["method"] = "none";
  const Interval* any = cell.interval ? &*cell.interval : nullptr;
  if (cell.interval) c["interval"] = bounds(*any);
  if (cell.matrix) {
    const MatrixValue& m = *cell.matrix;
    c["rows"] = m.rows;
    c["columns"] = m.columns;
    c["value"] = matrix_rows(m.values, m.columns.size());
    if (!m.intervals.empty()) {
      any = &m.intervals.front();
      c["interval"] = Json::array();
      for (std::size_t k = 0; k < m.intervals.size(); ++k) {
        if (k % m.columns.size() == 0) c["interval"].push_back(Json::array());
        c["interval"].back().push_back(bounds(m.intervals[k]));
      }
    }
  }
  if (!any) return c;
  c["level"] = any->level;
  c["method"] = any->method;
  c["replicates"] = any->replicates;
  c["replicates_undefined"] = any->undefined;
  return c;
}

}  // namespace

double TrackResult::failure_to_enrol_rate() const {
  const std::int64_t units = templates > 0 ? templates : samples;
  return units == 0 ? 0 : static_cast<double>(failed.size()) / static_cast<double>(units);
}

const MetricCell& TrackResult::cell(std::string_view metric) const {
  return by_name("metric of this track", cells, metric);
}

const TrackResult& EvaluationResult::track(std::string_view name) const {
  return by_name("track", tracks, name);
}

EvaluationOptions resolve_options(const ProtocolSpec& spec, const EvaluationOptions& options) {
  check_options(options);
  EvaluationOptions r = options;
  if (!r.convention) r.convention = spec.convention;
  if (!r.failed_enrolments) r.failed_enrolments = spec.failed_enrolments;
  if (!r.interval) r.interval = spec.interval;
  if (!r.fusion) r.fusion = spec.fusion;
  conventions().at(*r.convention);
  failure_policies().at(*r.failed_enrolments);
  interval_methods().at(*r.interval);
  if (!r.fusion->empty()) template_fusions().at(*r.fusion);  // without templates there is none
  return r;
}

bool drops_failed(const EvaluationOptions& options) {
  return failure_policies().at(*options.failed_enrolments).drop;
}

std::vector<TrackResult> measure_tracks(const ProtocolSpec& spec, const EvaluationOptions& options,
                                        const TrialSet& trials,
                                        std::span<const SampleStatus> status,
                                        std::span<const TrackScores> scores, const Job& job) {
  const std::vector<SampleStatus> units = unit_status(trials, status);
  std::vector<TrackResult> results;
  for (std::size_t t = 0; t < trials.tracks.size(); ++t) {
    const Track& track = trials.tracks[t];
    const TrackKind& kind = kind_of(track);
    TrackResult& r = results.emplace_back();
    r.name = track.name;
    r.kind = kind.name;
    count_units(trials, status, units, track, r);
    r.more_counts = kind.more_counts(track, trials);
    kind.measure({spec, options, trials, units, track, scores[t]}, r, job);
  }
  if (spec.summary == "mean") results.push_back(mean_over_tracks(results));
  for (const MetricRequest& request : spec.metrics) {
    const std::vector<std::string> kinds = protocol_metrics().at(request.name).kinds();
    if (std::ranges::none_of(results, [&](const TrackResult& r) {
          return std::ranges::find(kinds, r.kind) != kinds.end();
        }))
      fail(fmt::format("protocol {}", spec.id),
           fmt::format("no track can be measured by {}", request.name),
           "Take the metric out of the protocol.");
  }
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
  shorten_large_tracks(r);
  if (const std::int64_t n = samples_with_more_faces(r.trials, embeddings); n > 0)
    r.notes.push_back(fmt::format(
        "{} images show more faces than the one that is compared; see that it is the right one.",
        n));
  {
    const UnitEmbeddings units =
        unit_embeddings(r.trials, samples, embeddings, *r.options.fusion, job);
    for (const Track& track : r.trials.tracks)
      r.scores.push_back(kind_of(track).score(track, units, job));
  }
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
  std::int64_t total = 0;
  for (const Track& track : r.trials.tracks) total += score_slots(track);
  if (static_cast<std::int64_t>(scores.size()) != total)
    fail("scores", fmt::format("{} scores for {} comparisons", scores.size(), total),
         "One score a comparison, in the order of the lists.");
  const std::vector<SampleStatus> units = unit_status(r.trials, r.status);
  std::size_t begin = 0;
  for (const Track& track : r.trials.tracks) {
    const auto own = scores.subspan(begin, static_cast<std::size_t>(score_slots(track)));
    r.scores.push_back(given_scores(track, units, own, begin));
    begin += own.size();
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
    const std::int64_t slots = score_slots(track);
    for (std::int64_t k = 0; k < slots; ++k, ++row) {
      if (row >= csv.rows())
        fail(csv.name(), fmt::format("{} scores, the lists have more comparisons", csv.rows()),
             "One row a comparison, in the order of the lists.");
      const auto sides = kind_of(track).sides(track, k);
      if (!sides) {  // nothing is compared, so the cell may hold anything
        scores.push_back(0);
        continue;
      }
      for (const auto& [key, unit] :
           {std::pair{"first", sides->first}, {"second", sides->second}}) {
        if (!csv.has_column(key)) continue;
        const std::string& name = csv.cell(row, csv.column(key));
        const std::string& wanted = trials.unit_name(unit);
        if (name != wanted)
          fail(at_line(csv.name(), csv.place(row).line),
               fmt::format("column {} is {} where the list has {}", key, name, wanted),
               "Rows are in the order of the lists.");
      }
      scores.push_back(csv.number(row, column));
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
               {"convention", *options.convention},
               {"tracks", Json::object()}};
  for (const TrackResult& t : tracks) {
    Json& out = json["tracks"][t.name];
    out["counts"] = {{"comparisons", t.comparisons},
                     {"genuine", t.genuine},
                     {"impostor", t.impostor},
                     {"failed_enrolments", t.failed.size()},
                     {"failure_to_enrol_rate", t.failure_to_enrol_rate()}};
    out["metrics"] = Json::object();
    if (t.templates > 0) {
      out["counts"]["templates"] = t.templates;
      out["counts"]["failed_samples"] = t.left_out.size();
    }
    // Folds stand in the cells that use them.
    for (const auto& [name, count] : t.more_counts)
      if (name != "folds") out["counts"][name] = count;
    for (const MetricCell& cell : t.cells) out["metrics"][cell.name] = cell_json(cell);
  }
  return json;
}

}  // namespace facebench
