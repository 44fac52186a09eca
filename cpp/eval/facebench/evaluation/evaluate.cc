#include "facebench/evaluation/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/evaluation/asked_metrics.h"
#include "facebench/evaluation/backend_scores.h"
#include "facebench/evaluation/convention_choice.h"
#include "facebench/evaluation/internal/given_scores.h"
#include "facebench/evaluation/internal/measure_track.h"
#include "facebench/evaluation/metric.h"
#include "facebench/evaluation/warnings.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/template_fusion.h"
#include "facebench/trials/dense_trials.h"
#include "facebench/trials/internal/tail_of_pairs.h"
#include "facebench/trials/internal/tail_shards.h"
#include "facebench/trials/internal/trial_parts.h"
#include "facebench/trials/listed_trials.h"
#include "facebench/trials/scoring.h"

namespace facebench {
namespace {

// Whether comparisons with a failed side are left out; `options` resolved.
bool drops_failed(const EvaluationOptions& options) {
  return failure_policies().at(*options.failed_enrolments).drop;
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

void check_strict(const Result& r) {
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
Result begin(TrialSet trials, const EvaluationOptions& options) {
  if (!trials.spec)
    throw std::invalid_argument("the trials know no protocol: see read_trials() and under()");
  Result r;
  r.spec = *trials.spec;
  r.options = resolve_options(r.spec, options);
  trials.check();
  if (options.strict) refuse_blemishes(trials, r.spec.id);
  r.trials = std::move(trials);
  for (const TrialList& list : r.trials.lists)
    r.inputs.push_back({list.role, list.path, list.sha256});
  r.notes = notes_of_lists(r.trials);
  return r;
}

void finish(Result& r, const Job& job) {
  MeasuredRun measured = measure_run(r, job);
  r.tracks = std::move(measured.tracks);
  r.curves = std::move(measured.curves);
  check_strict(r);
  r.warnings = result_warnings(r);
}

// How the scores of a track are kept: as the metrics need them. Of more than
// `options.stored_scores` comparisons only what they need: of a tail the highest scores (twice what
// the highest target asks for, since a bootstrap replicate may need more, in bounded memory). Says
// so in the notes.
Storage choose_storage(const Track& track, Result& r) {
  constexpr double most = 1e7;
  const Convention convention = chosen_convention(r.options);
  bool centred = false;
  double far_needed = 0;
  for (const auto& [metric, target] : asked_metrics(r.spec)) {
    centred = centred || (metric.needs_centred && metric.needs_centred(convention));
    if (metric.takes_targets && metric.data == MetricData::scores)
      far_needed = std::max(far_needed, 2 * target);
  }
  const ListedTrials* list = track.trials->list();
  if (centred && list && list->fold_count() > 1) return {Storage::What::centred};
  const TrialSize size = track.trials->size(r.trials);
  const auto impostors = static_cast<double>(size.comparisons - size.genuine);
  Storage storage{track.trials->storage_of_many()};
  if (size.comparisons <= r.options.stored_scores || storage.what == Storage::What::all) return {};
  if (storage.what == Storage::What::outcomes) {
    r.notes.push_back(fmt::format("Track {}: of {} comparisons the outcome of each search is kept.",
                                  track.name, size.comparisons));
    return storage;
  }
  if (impostors == 0) return {};
  storage.far = std::min({1.0, std::max(far_needed, 1000 / impostors), most / impostors});
  r.notes.push_back(
      fmt::format("Track {}: of {} comparisons the genuine scores and the highest impostor scores "
                  "are kept; what needs the others is bounded by a histogram.",
                  track.name, size.comparisons));
  return storage;
}

// What a fusion expects of the embeddings and their manifest says otherwise.
void note_fusion(Result& r, const EmbeddingSet& embeddings) {
  if (r.trials.templates.size() == 0 || r.options.fusion->empty()) return;
  const TemplateFusion& fusion = template_fusions().at(*r.options.fusion);
  if (const std::string flip = text_at(embeddings.manifest, "/extract/flip");
      !fusion.flip.empty() && !flip.empty() && flip != fusion.flip)
    r.notes.push_back(
        fmt::format("The script of the fusion '{}' has flip={}; these embeddings "
                    "were extracted with flip={}.",
                    fusion.name, fusion.flip, flip));
  if (!fusion.unit_samples && !fusion.flip.empty() &&
      text_at(embeddings.manifest, "/extract/normalization") == "unit")
    r.notes.push_back(
        fmt::format("The fusion '{}' keeps norms; these embeddings have unit length (extract them "
                    "with normalization=none).",
                    fusion.name));
}

}  // namespace

Scores given_scores(const Trials& trials, std::span<const std::uint8_t> failed_units,
                    std::span<const double> given, std::size_t first_row) {
  std::vector<double> kept(given.size(), 0.0), good;
  std::vector<std::size_t> failed;
  for (std::size_t k = 0; k < given.size(); ++k) {
    const auto compared = trials.comparison_at(static_cast<std::int64_t>(k));
    if (!compared) continue;
    if (!takes_part(*compared, failed_units)) {
      failed.push_back(k);
      continue;
    }
    // What is kept as float must be finite as such, too.
    const double score =
        trials.single() ? static_cast<double>(static_cast<float>(given[k])) : given[k];
    if (!std::isfinite(score))
      fail("scores", fmt::format("row {} is {}, not a finite number", first_row + k, given[k]),
           "Where an enrolment failed, give the sample's status.");
    good.push_back(kept[k] = score);
  }
  const double lowest = failed_score(good);
  for (const std::size_t k : failed) kept[k] = lowest;
  if (trials.single()) return std::vector<float>(kept.begin(), kept.end());
  return kept;
}

Json embeddings_json(const EmbeddingSet& embeddings) {
  // Of what decides the scores, not of a file: the same for an array and for the file it came from.
  Sha256 hash;
  hash.update(fmt::format("{} {}\n", embeddings.size(), embeddings.dim));
  for (std::size_t i = 0; i < embeddings.size(); ++i)
    hash.update(
        fmt::format("{} {}\n", static_cast<int>(embeddings.status[i]), embeddings.names[i]));
  hash.update(std::as_bytes(std::span(embeddings.values)));
  return {{"sha256", hash.hex()},
          {"dim", embeddings.dim},
          {"rows", embeddings.size()},
          {"manifest", embeddings.manifest}};
}

std::vector<std::string> notes_of_lists(const TrialSet& trials) {
  const ProtocolSpec& spec = *trials.spec;
  std::vector<std::string> notes;
  for (const TrialList& list : trials.lists)
    for (const std::string& note : list.notes)
      notes.push_back(fmt::format("{} {}.", list.path.filename().string(), note));
  notes.insert(notes.end(), trials.notes.begin(), trials.notes.end());
  for (const FoundBlemishes& kind : trials.blemishes) notes.push_back(blemish_sentence(kind));
  for (std::string& difference : differences_from_official(spec, trials))
    notes.push_back(std::move(difference));
  return notes;
}

EvaluationOptions resolve_options(const ProtocolSpec& spec, const EvaluationOptions& options) {
  check_options(options);
  for (const auto& [given, what] : {std::pair{!options.train.empty(), "train"},
                                    {!options.cohort.empty(), "cohort"},
                                    {options.allow_overlap, "allow_overlap"}})
    if (given && !options.has_backend())
      throw std::invalid_argument(
          fmt::format("{}: is of a back end; say which (backend, normalise)", what));
  EvaluationOptions r = options;
  const bool caller_chose = r.convention.has_value();
  if (!r.convention) r.convention = spec.convention;
  if (!r.failed_enrolments) r.failed_enrolments = spec.failed_enrolments;
  if (!r.interval) r.interval = spec.interval;
  if (!r.fusion) r.fusion = spec.fusion;
  choose_rules(spec, caller_chose, r);
  failure_policies().at(*r.failed_enrolments);
  interval_methods().at(*r.interval);
  if (!r.fusion->empty()) template_fusions().at(*r.fusion);  // without templates there is none
  return r;
}

Json options_of_manifest(const EvaluationOptions& options) {
  Json json = options_to_json(options);
  for (const char* key : {"backend", "train", "allow_overlap", "normalise", "cohort"})
    json.erase(key);
  return json;
}

std::vector<std::uint8_t> left_out_units(const EvaluationOptions& options, const TrialSet& trials,
                                         std::span<const SampleStatus> status) {
  if (!drops_failed(options)) return {};
  return failed_units(unit_status(trials, status));
}

namespace {

MeasuredRun measure_all(const ScoredTrials& scored, const ProtocolSpec& metrics,
                        const EvaluationOptions& options, bool with_curves, const Job& job) {
  const TrialSet& trials = scored.trials;
  const std::vector<SampleStatus> units = unit_status(trials, scored.status);
  const std::vector<std::uint8_t> failed = failed_units(units);
  const bool drop = drops_failed(options);
  const IntervalMethod& intervals = interval_methods().at(*options.interval);
  MeasuredRun all;
  std::vector<TrackResult>& results = all.tracks;
  std::vector<std::vector<NumberDraws>> draws;  // per track
  for (std::size_t t = 0; t < trials.tracks.size(); ++t) {
    const Track& track = trials.tracks[t];
    TrackResult& r = results.emplace_back();
    r.name = track.name;
    r.kind = track.trials->kind();
    count_units(trials, scored.status, units, track, r);
    count_comparisons(*track.trials, trials, failed, drop, r);
    r.more_counts = track.trials->counts(trials);
    const ScoredTrack scored_one{
        .set = trials,
        .scores = scored.scores.at(t),
        .where = fmt::format("protocol {}, track {}", scored.spec.id, track.name),
        .left_out = drop ? failed : std::vector<std::uint8_t>(),
        .intervals = intervals.any() ? &intervals : nullptr,
        .searches = asks_for_searches(metrics)};
    const Measurable measurable = track.trials->measurable(scored_one, job);
    MeasuredNumbers measured =
        measure_numbers(metrics, options, scored_one, measurable, with_curves, job);
    r.numbers = std::move(measured.numbers);
    draws.push_back(std::move(measured.draws));
    if (!with_curves) continue;
    all.curves.push_back(
        curves_of(track, scored_one, measurable, options.rank_ties.value_or("pessimistic")));
    all.curves.back().band = std::move(measured.band);
  }
  for (const MetricRequest& request : metrics.metrics) {
    if (std::ranges::none_of(results, [&](const TrackResult& r) {
          return std::ranges::any_of(r.numbers, [&](const Number& number) {
            const Metric* metric = metric_of_number(number.name).metric;
            return metric && metric->name == request.name;
          });
        }))
      fail(fmt::format("protocol {}", metrics.id),
           fmt::format("no track can be measured by {}", request.name),
           "Take the metric out of the protocol.");
  }
  // One split alone has no mean.
  if (metrics.summary != "none" && results.size() > 1)
    results.push_back(mean_over_tracks(results, draws, options, metrics.summary == "mean_less_sd"));
  if (scored.score == "cosine") keep_to_cosines(results);
  return all;
}

// What a quick look has too little of is not wrong with the protocol.
MeasuredRun measure(const ScoredTrials& scored, const ProtocolSpec& metrics,
                    const EvaluationOptions& options, bool with_curves, const Job& job) {
  const std::int64_t limit = scored.trials.limit;
  try {
    return measure_all(scored, metrics, options, with_curves, job);
  } catch (const Error& e) {
    if (limit == 0) throw;
    const std::string_view why = e.what();
    fail(why.substr(0, why.find(". ")),
         fmt::format("limit {} leaves too few of the protocol's comparisons, images or people",
                     limit),
         "Raise it (--limit), or leave it out.");
  }
}

}  // namespace

MeasuredRun measure_run(const ScoredTrials& scored, const Job& job) {
  return measure(scored, scored.spec, scored.options, true, job);
}

std::vector<TrackResult> measure_tracks(const ScoredTrials& scored, const Job& job) {
  return measure_tracks(scored, scored.spec, scored.options, job);
}

std::vector<TrackResult> measure_tracks(const ScoredTrials& scored, const ProtocolSpec& metrics,
                                        const EvaluationOptions& options, const Job& job) {
  return measure(scored, metrics, options, false, job).tracks;
}

namespace {

// A run of these trials, before anything is scored.
Result begin(TrialSet trials, const EmbeddingSet& embeddings, const EvaluationOptions& options) {
  Result r = begin(std::move(trials), options);
  const auto rows = static_cast<std::int64_t>(embeddings.size());
  if (embeddings.dim < 1 || embeddings.status.size() != embeddings.size() ||
      static_cast<std::int64_t>(embeddings.values.size()) != rows * embeddings.dim)
    throw std::invalid_argument(
        fmt::format("embeddings: {} values for {} names of {} dimensions and {} statuses",
                    embeddings.values.size(), rows, embeddings.dim, embeddings.status.size()));
  return r;
}

UnitEmbeddings units_of(const Result& r, const EmbeddingSet& embeddings, const Job& job) {
  return unit_embeddings(r.trials, embeddings, r.options.match.value_or(r.spec.match),
                         *r.options.fusion, job);
}

// Names of the lists without an embedding: one that could not be made has a row that says so.
void count_absent(Result& r, const UnitEmbeddings& units, const EmbeddingSet& embeddings) {
  if (units.absent.empty()) return;
  std::vector<std::string> absent;
  for (const std::int32_t sample : units.absent)
    absent.push_back(r.trials.names[static_cast<std::size_t>(sample)]);
  const std::string found =
      fmt::format("{} of the {} names in the lists are missing from the {} embeddings ({})",
                  absent.size(), r.trials.names.size(), embeddings.size(), first_names(absent));
  if (!r.options.allow_missing)
    fail("sample names", found,
         missing_names_advice(r.trials.names, embeddings.names,
                              r.options.match.value_or(r.spec.match)) +
             " Where they could not be enrolled, say so: allow_missing (--allow-missing) counts "
             "them as failed enrolments.");
  r.notes.push_back(found + ": they are counted as failed enrolments, as was asked for.");
}

ManyPairs many_pairs(const Track& track, const UnitEmbeddings& units, const Storage& storage) {
  return {dynamic_cast<const DenseTrials&>(*track.trials), units, storage.far};
}

// The tail of a track by the shards that all files hold of it.
Scores tail_of_files(const Track& track, const UnitEmbeddings& units, const Storage& storage,
                     std::span<const std::filesystem::path> files) {
  const ManyPairs pairs = many_pairs(track, units, storage);
  const std::string sha256 = pairs.sha256();
  std::vector<AllPairsShard> shards;
  for (const std::filesystem::path& path : files)
    for (TailShard& shard : read_tail_shards(path)) {
      if (shard.track != track.name) continue;
      if (shard.sha256 != sha256)
        fail(path.string(),
             fmt::format("its track {} was scored of other embeddings or lists, with other options "
                         "or by another version",
                         track.name),
             "Make the shard again.");
      shards.push_back(std::move(shard.pairs));
    }
  return pairs.tail_of(std::move(shards));
}

// `fused` is called when the values of the embeddings are not needed any more.
Result evaluate_embeddings(TrialSet trials, const EmbeddingSet& embeddings,
                           const EvaluationOptions& options, const Job& job,
                           const std::function<void()>& fused,
                           std::span<const std::filesystem::path> tail_shards) {
  Result r = begin(std::move(trials), embeddings, options);
  r.score = "cosine";
  std::vector<std::string> backend_warnings;
  if (const std::int64_t n = samples_with_more_faces(r.trials, embeddings); n > 0)
    r.notes.push_back(fmt::format(
        "{} images show more faces than the one that is compared; see that it is the right one.",
        n));
  if (const auto n = std::ranges::count_if(
          embeddings.names, [](const std::string& s) { return s.find('\\') != s.npos; });
      n > 0)
    r.notes.push_back(
        fmt::format("{} names of the embeddings hold '\\', which is read as '/'.", n));
  {
    const UnitEmbeddings units = units_of(r, embeddings, job);
    count_absent(r, units, embeddings);
    r.status = units.sample_status;
    r.embeddings = embeddings_json(embeddings);
    if (r.options.has_backend()) {
      if (!tail_shards.empty())
        throw std::invalid_argument("files of shards do not go with a back end");
      std::vector<Storage> storage;
      for (const Track& track : r.trials.tracks) storage.push_back(choose_storage(track, r));
      BackendScores scored = backend_scores(r, embeddings, units, storage, job);
      r.scores = std::move(scored.scores);
      r.score = std::move(scored.score);
      r.backend = std::move(scored.content);
      r.inputs.insert(r.inputs.end(), scored.inputs.begin(), scored.inputs.end());
      r.notes.insert(r.notes.end(), scored.notes.begin(), scored.notes.end());
      backend_warnings = std::move(scored.warnings);
    }
    fused();
    if (!r.options.has_backend())
      for (const Track& track : r.trials.tracks) {
        const Storage storage = choose_storage(track, r);
        const bool shared_out = storage.what == Storage::What::tail && !tail_shards.empty();
        r.scores.push_back(shared_out ? tail_of_files(track, units, storage, tail_shards)
                                      : track.trials->score(units, storage, job));
      }
  }
  note_fusion(r, embeddings);
  const bool centred =
      std::ranges::any_of(r.scores, [](const Scores& s) { return !s.centred.empty(); });
  if (centred && text_at(embeddings.manifest, "/extract/normalization") == "unit")
    r.notes.push_back(
        fmt::format("The convention '{}' subtracts the mean of embeddings as the network gives "
                    "them; these have "
                    "unit length (extract them with normalization=none).",
                    *r.options.accuracy_convention));
  finish(r, job);
  r.warnings.insert(r.warnings.begin(), backend_warnings.begin(), backend_warnings.end());
  return r;
}

}  // namespace

Result evaluate(TrialSet trials, const EmbeddingSet& embeddings, const EvaluationOptions& options,
                const Job& job) {
  return evaluate_embeddings(std::move(trials), embeddings, options, job, [] {}, {});
}

Result evaluate(TrialSet trials, EmbeddingSet&& embeddings, const EvaluationOptions& options,
                const Job& job, std::span<const std::filesystem::path> tail_shards) {
  EmbeddingSet rows = std::move(embeddings);
  return evaluate_embeddings(
      std::move(trials), rows, options, job, [&] { std::vector<float>().swap(rows.values); },
      tail_shards);
}

void write_tail_shard(TrialSet trials, EmbeddingSet&& embeddings, const Shard& shard,
                      const std::filesystem::path& out, const EvaluationOptions& options,
                      const Job& job) {
  EmbeddingSet rows = std::move(embeddings);
  Result r = begin(std::move(trials), rows, options);
  if (r.options.has_backend())
    throw std::invalid_argument("a shard does not go with a back end; evaluate in one process");
  const UnitEmbeddings units = units_of(r, rows, job);
  count_absent(r, units, rows);
  rows = {};
  std::vector<TailShard> shards;
  for (const Track& track : r.trials.tracks) {
    const Storage storage = choose_storage(track, r);
    if (storage.what != Storage::What::tail) continue;
    const ManyPairs pairs = many_pairs(track, units, storage);
    shards.push_back({track.name, pairs.sha256(), pairs.shard(shard, job)});
  }
  if (shards.empty())
    throw std::invalid_argument(fmt::format(
        "protocol {}: no track compares every image with every other more than {} "
        "times, so there is nothing to share out. Evaluate it in one process, or with a "
        "lower 'stored_scores'.",
        r.spec.id, r.options.stored_scores));
  write_tail_shards(out, shards);
}

Result evaluate_scores(TrialSet trials, std::span<const double> scores,
                       std::span<const SampleStatus> status, const EvaluationOptions& options,
                       const Job& job) {
  Result r = begin(std::move(trials), options);
  if (r.options.has_backend())
    throw std::invalid_argument(
        "a back end and its normalisation go with embeddings, not with scores");
  r.score = "given";
  r.status.assign(r.trials.names.size(), SampleStatus::ok);
  if (!status.empty()) {
    if (status.size() != r.status.size())
      throw std::invalid_argument(
          fmt::format("{} statuses for {} samples", status.size(), r.status.size()));
    r.status.assign(status.begin(), status.end());
  }
  std::int64_t total = 0;
  for (const Track& track : r.trials.tracks) total += track.trials->slots();
  if (static_cast<std::int64_t>(scores.size()) != total)
    fail("scores", fmt::format("{} scores for {} comparisons", scores.size(), total),
         "One score a comparison, in the order of the lists.");
  const std::vector<std::uint8_t> failed = failed_units(unit_status(r.trials, r.status));
  std::size_t begin = 0;
  for (const Track& track : r.trials.tracks) {
    const auto of_track = scores.subspan(begin, static_cast<std::size_t>(track.trials->slots()));
    r.scores.push_back(given_scores(*track.trials, failed, of_track, begin));
    begin += of_track.size();
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
    const std::int64_t slots = track.trials->slots();
    for (std::int64_t k = 0; k < slots; ++k, ++row) {
      if (row >= csv.rows())
        fail(csv.name(), fmt::format("{} scores, the lists have more comparisons", csv.rows()),
             "One row a comparison, in the order of the lists.");
      const auto sides = track.trials->comparison_at(k);
      if (!sides) {  // nothing is compared, so the cell may hold anything
        scores.push_back(0);
        continue;
      }
      for (const auto& [key, unit] :
           {std::pair{"first", sides->first}, {"second", sides->second}}) {
        if (!csv.has_column(key)) continue;
        const std::string& name = csv.cell(row, csv.column(key));
        const std::string& listed_name = trials.unit_name(unit);
        if (name != listed_name)
          fail(at_line(csv.name(), csv.place(row).line),
               fmt::format("column {} is {} where the list has {}", key, name, listed_name),
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

}  // namespace facebench
