#include "facebench/runs/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "facebench/core/error.h"
#include "facebench/core/job.h"
#include "facebench/core/utf8.h"
#include "facebench/io/confine.h"
#include "facebench/io/file.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/presence.h"
#include "facebench/io/sha256.h"
#include "facebench/trials/conventions.h"
#include "facebench/trials/internal/columns.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKind = "evaluation";
constexpr std::size_t kMostTracks = 1000;
constexpr std::uint64_t kMaxJsonBytes = 64 << 20;  // in memory it takes some ten times as much
constexpr const char* kOutputs[] = {"scores.h5", "metrics.json", "curves.json"};
// Format 2 called all pairs of which a tail was kept a kind of their own; before format 4 a metric
// that the convention had no rule for was computed by "exact", and identification always; format 5
// added the manifest's content.
constexpr std::int64_t kScoresFormat = 5, kOldestScoresFormat = 2;
constexpr const char* kRunAgain = "The file was changed or cut; run the evaluation again.";

void fill_rules_of_older_run(EvaluationOptions& options) {
  const Convention& convention = conventions().at(*options.convention);
  const auto or_exact = [](const std::string& rule) {
    return rule.empty() ? std::string("exact") : rule;
  };
  options.accuracy_convention = or_exact(convention.accuracy);
  options.tar_at_far_convention = or_exact(convention.tar_at_far);
  options.identification_convention = "exact";
}

std::vector<std::uint8_t> status_bytes(std::span<const SampleStatus> status) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(status.size());
  for (const SampleStatus s : status) bytes.push_back(static_cast<std::uint8_t>(s));
  return bytes;
}

void write_templates(H5Writer& file, const Templates& t) {
  if (t.size() == 0) return;
  file.write_texts("/template/name", t.names);
  write_column(file, "/template/identity", t.identity);
  write_column(file, "/template/begin", t.begin);
  write_column(file, "/template/sample", t.sample);
  write_column(file, "/template/medium", t.medium);
  if (!t.score.empty()) write_column(file, "/template/score", t.score);
}

Templates read_templates(const H5Reader& file) {
  Templates t;
  if (!file.has("/template")) return t;
  t.names = file.read_texts("/template/name");
  t.identity = file.read<std::int32_t>("/template/identity", 1);
  t.begin = file.read<std::int64_t>("/template/begin", 1);
  t.sample = file.read<std::int32_t>("/template/sample", 1);
  t.medium = file.read<std::int32_t>("/template/medium", 1);
  if (file.has("/template/score")) t.score = file.read<float>("/template/score", 1);
  return t;
}

void write_scores(const fs::path& path, const Result& r, const Json& content) {
  H5Writer file(path);
  Json tracks = Json::array();
  for (const Track& t : r.trials.tracks) tracks.push_back(t.name);
  file.write_json("/manifest", {{"format", kScoresFormat},
                                {"tracks", tracks},
                                {"protocol", r.spec.text},
                                {"options", options_of_manifest(r.options)}});
  file.write_json("/content", content);
  file.write_texts("/identity", r.trials.identity_names);
  file.write_texts("/sample/name", r.trials.names);
  write_column(file, "/sample/identity", r.trials.identity);
  write_column(file, "/sample/status", status_bytes(r.status));
  write_templates(file, r.trials.templates);
  for (std::size_t t = 0; t < r.trials.tracks.size(); ++t) {
    const Track& track = r.trials.tracks[t];
    const std::string group = "/tracks/" + track.name + "/";
    file.write_texts(group + "kind", std::vector<std::string>{std::string(track.trials->kind())});
    track.trials->write(file, group);
    r.scores[t].save(file, group, track.trials->shape());
  }
  file.commit();
}

Track read_track(const H5Reader& file, const std::string& name) {
  const std::string group = "/tracks/" + name + "/";
  const auto kinds = file.read_texts(group + "kind");
  const std::string kind = kinds.empty() ? "" : kinds.front();
  return {name, trial_kinds().at(kind == "all_pairs" ? "dense" : kind).read(file, group)};
}

Json failed_content(const std::vector<FailedSample>& samples) {
  Json failed = Json::array();
  for (const FailedSample& f : samples)
    failed.push_back({{"name", f.name}, {"status", sample_status_name(f.status)}});
  return failed;
}

Json track_content(const TrackResult& t) {
  return {{"kind", t.kind},
          {"comparisons", t.comparisons},
          {"dropped", t.dropped},
          {"failed_comparisons", t.failed_comparisons},
          {"templates", t.templates},
          {"samples", t.samples},
          {"identities", t.identities},
          {"left_out_of_templates", failed_content(t.left_out)},
          {"failed", failed_content(t.failed)}};
}

// The path below the root, or null where it lies elsewhere. A root that is a file (an archive with
// its lists) stands for its folder.
Json below(const fs::path& path, fs::path root) {
  if (root.empty()) return nullptr;
  if (is_file(root)) root = fs::absolute(root).parent_path();
  const fs::path relative = fs::absolute(path).lexically_normal().lexically_relative(
      fs::absolute(root).lexically_normal());
  if (relative.empty() || *relative.begin() == "..") return nullptr;
  return relative.generic_string();
}

Manifest read_manifest_as_it_is(const fs::path& path) {
  return manifest_from_json(parse_file_json(read_file(path, kMaxJsonBytes), path.string()),
                            path.string());
}

// Throws Error where the file is not the one that the run wrote.
void check_output(const fs::path& folder, const Manifest& manifest, const char* file,
                  const Job& job) {
  const Json& outputs = manifest.content.at("outputs");
  const std::string now = sha256_file(folder / file, job);
  if (outputs.contains(file) && outputs[file] == now) return;
  fail((folder / file).string(), "is not the file that the run wrote: another SHA-256",
       fmt::format("It was changed; 'facebench verify {}' says what differs.", folder.string()));
}

Json scores_manifest(const H5Reader& file, const std::string& where) {
  Json manifest = file.read_json("/manifest");
  if (!manifest.is_object() || !manifest.contains("format") ||
      !manifest["format"].is_number_integer() || !manifest.contains("protocol") ||
      !manifest["protocol"].is_string() || !manifest.contains("options") ||
      !manifest.contains("tracks") || manifest["format"] < kOldestScoresFormat ||
      manifest["format"] > kScoresFormat)
    fail(where, fmt::format("is not a scores file of format {} to {}", kOldestScoresFormat,
                            kScoresFormat));
  if (manifest["format"] == kScoresFormat && manifest.size() > 4)
    fail(where, "its manifest has a part that no run has", kRunAgain);
  return manifest;
}

// A run.json without its content's hash is one of an earlier version, whose scores.h5 says so, or
// one that was changed.
void check_content(const fs::path& folder, const Manifest& manifest) {
  const fs::path path = folder / "run.json", scores = folder / "scores.h5";
  std::error_code ignored;
  if (!manifest.recorded_hash.empty()) return check_content_hash(manifest, path.string());
  if (fs::exists(scores, ignored) &&
      scores_manifest(H5Reader(scores), scores.string())["format"] < kFormatWithContent)
    return;
  fail(path.string(), "lacks the hash of its content ('content_sha256')", kRunAgain);
}

// What tells a file from the one that takes its place: it is hashed, and then opened once more.
using Stamp = std::pair<std::uintmax_t, fs::file_time_type>;

Stamp stamp_of(const fs::path& path) {
  std::error_code ignored;
  return {fs::file_size(path, ignored), fs::last_write_time(path, ignored)};
}

RunScores read_since(const Stamp& before, const fs::path& path) {
  RunScores scores = read_scores(path);
  if (stamp_of(path) != before)
    fail(path.string(), "was written while it was read", "Run the command again.");
  return scores;
}

}  // namespace

Json content_of_scores(const ScoredTrials& scored, std::span<const TrackResult> tracks) {
  const ProtocolSpec& spec = scored.spec;
  Json content = {{"kind", kKind},
                  {"protocol",
                   {{"id", spec.id},
                    {"version", spec.version},
                    {"title", spec.title},
                    {"sha256", spec.sha256},
                    {"reader", spec.reader_name},
                    {"reader_options", spec.reader->options()}}},
                  {"options", options_of_manifest(scored.options)}};
  for (const TrackResult& t : tracks) content["tracks"][t.name] = track_content(t);
  return content;
}

void write_run_files(const fs::path& folder, const Result& r, const RunInfo& info) {
  Manifest manifest;
  Json& content = manifest.content = content_basics();
  content.update(content_of_scores(r, r.tracks));
  content["interval_rules"] = kIntervalRules;
  content["score"] = r.score;
  content["notes"] = r.notes;
  if (!r.warnings.empty()) content["warnings"] = r.warnings;
  if (r.trials.limit > 0) content["limit"] = r.trials.limit;
  content["blemishes"] = blemishes_json(r.trials.blemishes);
  content["embeddings"] = r.embeddings.empty() ? Json(nullptr) : r.embeddings;
  if (!r.backend.is_null()) content["backend"] = r.backend;
  content["inputs"] = Json::array();
  manifest.circumstance = circumstance_of_this_process(info.command, info.threads);
  manifest.circumstance["root"] = info.root.empty() || info.anonymous
                                      ? Json(nullptr)
                                      : Json(fs::absolute(info.root).generic_string());
  manifest.circumstance["inputs"] = Json::array();
  for (const RunInput& input : r.inputs) {
    content["inputs"].push_back({{"role", input.role}, {"sha256", input.sha256}});
    manifest.circumstance["inputs"].push_back(
        {{"role", input.role},
         {"path", info.anonymous ? "" : fs::absolute(input.path).generic_string()},
         {"below_root", below(input.path, info.root)}});
  }
  content.update(info.content);
  if (info.anonymous) {
    content["anonymous"] = true;
    manifest.circumstance["host"] = nullptr;
    manifest.circumstance["command"] = nullptr;
  }
  manifest.circumstance.update(info.circumstance);

  write_scores(folder / "scores.h5", r, content);
  write_file(folder / "metrics.json", pretty_json(metrics_json(r)));
  write_file(folder / "curves.json", canonical_json(curves_json(r.curves)) + "\n");
  for (const char* file : kOutputs) content["outputs"][file] = sha256_file(folder / file);
  write_manifest(folder / "run.json", manifest);
}

std::string run_name(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

bool is_run_folder(const fs::path& folder) {
  try {
    return read_manifest_as_it_is(folder / "run.json").content.value("kind", "") == kKind;
  } catch (const std::exception&) {
    return false;
  }
}

Run read_changed_run(const fs::path& folder) {
  Run run;
  run.folder = folder;
  const fs::path path = folder / "run.json";
  if (!is_file(path))
    fail(folder.string(),
         is_there(folder) ? "is not a run folder: it has no run.json" : "no such run folder",
         "Name a folder that 'eval' or 'run' wrote.");
  run.manifest = read_manifest_as_it_is(path);
  const Json& c = run.manifest.content;
  if (const std::string kind = text_at(c, "/kind"); kind != kKind)
    fail(path.string(), fmt::format("its 'kind' is '{}', not '{}'", kind, kKind),
         "Name a folder that 'eval' or 'run' wrote.");
  const auto need = [&](const char* key, bool (Json::*is)() const) {
    if (!c.contains(key) || !(c[key].*is)())
      fail(path.string(), fmt::format("lacks a part of an evaluation's manifest: '{}'", key),
           kRunAgain);
  };
  for (const char* key : {"protocol", "options", "tracks", "outputs"}) need(key, &Json::is_object);
  need("inputs", &Json::is_array);
  const fs::path metrics = folder / "metrics.json";
  run.metrics = parse_file_json(read_file(metrics, kMaxJsonBytes), metrics.string());
  if (!run.metrics.is_object() || !run.metrics.contains("tracks") ||
      !run.metrics["tracks"].is_object())
    fail(metrics.string(), "holds no tracks", "Run the evaluation again.");
  return run;
}

std::int64_t interval_rules_of(const Json& content) {
  const auto rules = content.find("interval_rules");
  if (rules == content.end()) return 1;
  return rules->is_number_integer() ? rules->get<std::int64_t>() : 0;
}

namespace {

// Leaves the intervals of all metrics out, with the reason.
void leave_intervals_out(Json& metrics, std::int64_t rules) {
  const std::string why = fmt::format("its rule ({}) is not today's ({}); evaluate the run again",
                                      rules, kIntervalRules);
  for (Json& track : metrics["tracks"]) {
    if (!track.is_object() || !track.contains("metrics") || !track["metrics"].is_object()) continue;
    for (Json& number : track["metrics"]) {
      if (!number.is_object() || number.value("interval", Json()).is_null()) continue;
      number["interval"] = nullptr;
      number["level"] = nullptr;
      number["method"] = "none";
      number["no_interval"] = why;
      for (const char* key : {"interval_note", "replicates", "replicates_undefined"})
        number.erase(key);
    }
  }
}

}  // namespace

Run read_run(const fs::path& folder, const Job& job) {
  Run run = read_changed_run(folder);
  check_content(folder, run.manifest);
  if (const std::int64_t rules = interval_rules_of(run.manifest.content); rules != kIntervalRules) {
    run.without_intervals = true;
    leave_intervals_out(run.metrics, rules);
  }
  std::error_code ignored;
  for (const char* file : kOutputs)
    if (fs::exists(folder / file, ignored)) check_output(folder, run.manifest, file, job);
  return run;
}

std::vector<TrackCurves> read_curves(const Run& run, const Job& job) {
  const fs::path path = run.folder / "curves.json";
  if (run.manifest.content.at("outputs").contains("curves.json")) {
    std::vector<TrackCurves> curves = curves_from_json(
        parse_file_json(read_file(path, kMaxJsonBytes), path.string()), path.string());
    if (run.without_intervals)
      for (TrackCurves& c : curves) c.band.clear();
    return curves;
  }
  const RunScores s = read_scores(run.folder / "scores.h5");
  return measure_run(s, job).curves;
}

RunScores read_scores(const fs::path& path) {
  const H5Reader file(path);
  const std::string where = path.string();
  RunScores r;
  const Json manifest = scores_manifest(file, where);
  r.format = manifest["format"];
  r.spec = parse_protocol(manifest["protocol"].get<std::string>(), where + ":protocol");
  r.trials.spec = std::make_shared<const ProtocolSpec>(r.spec);
  options_from_json(r.options, manifest["options"], where + ":options");
  if (r.format < 4 && r.options.convention) fill_rules_of_older_run(r.options);
  if (r.format >= kFormatWithContent) {
    r.content = file.read_json("/content");
    if (r.content.is_object() && r.content.contains("score") && r.content["score"].is_string())
      r.score = r.content["score"].get<std::string>();
  }

  r.trials.identity_names = file.read_texts("/identity");
  r.trials.names = file.read_texts("/sample/name");
  r.trials.identity = file.read<std::int32_t>("/sample/identity", 1);
  const auto statuses = file.read<std::uint8_t>("/sample/status", 1);
  if (statuses.size() != r.trials.names.size())
    fail(where, fmt::format("{} statuses for {} samples", statuses.size(), r.trials.names.size()));
  try {
    for (const std::uint8_t s : statuses) r.status.push_back(sample_status_of(s));
    r.trials.templates = read_templates(file);
    if (manifest.at("tracks").size() > kMostTracks)
      fail(where, fmt::format("{} tracks; more than {} are not read", manifest["tracks"].size(),
                              kMostTracks));
    for (const Json& name : manifest.at("tracks")) {
      const auto& track = name.get_ref<const std::string&>();
      if (std::ranges::find(r.trials.tracks, track, &Track::name) != r.trials.tracks.end())
        fail(where, fmt::format("track '{}' is there twice", track));
      r.trials.tracks.push_back(read_track(file, track));
    }
    r.trials.check();
    for (const Track& track : r.trials.tracks)
      r.scores.push_back(Scores::load(file, "/tracks/" + track.name + "/", track.trials->shape(),
                                      track.trials->single()));
  } catch (const std::logic_error& e) {  // what the checks of other floors throw
    fail(where, e.what(), "The file was changed; run the evaluation again.");
  } catch (const Json::exception& e) {
    fail(where, e.what(), "The file was changed; run the evaluation again.");
  }
  // Of an earlier format there may be what is not read any more.
  if (r.format == kScoresFormat)
    if (const std::vector<std::string> more = file.unread(); !more.empty())
      fail(where, fmt::format("holds {}, which no run has", printable(more.front())), kRunAgain);
  return r;
}

RunScores read_run_scores(const fs::path& folder, const Job& job) {
  const Stamp before = stamp_of(folder / "scores.h5");
  const Manifest manifest = read_manifest_as_it_is(folder / "run.json");
  check_content(folder, manifest);
  check_output(folder, manifest, "scores.h5", job);
  return read_since(before, folder / "scores.h5");
}

WholeRun read_whole_run(const fs::path& folder, const Job& job) {
  const Stamp before = stamp_of(folder / "scores.h5");
  Run run = read_run(folder, job);
  return {std::move(run), read_since(before, folder / "scores.h5")};
}

Result read_result(const fs::path& folder, const Job& job) {
  WholeRun whole = read_whole_run(folder, job);
  const Json &content = whole.run.manifest.content, &circumstance = whole.run.manifest.circumstance;
  Result r;
  static_cast<ScoredTrials&>(r) = std::move(whole.scores);
  auto [tracks, curves] = measure_run(r, job);
  r.tracks = std::move(tracks);
  r.curves = std::move(curves);
  r.score = content.value("score", "");
  r.trials.limit = content.value("limit", r.trials.limit);
  r.notes = content.value("notes", r.notes);
  r.warnings = content.value("warnings", r.warnings);
  if (content.contains("embeddings") && content["embeddings"].is_object())
    r.embeddings = content["embeddings"];
  r.backend = content.value("backend", Json());
  const Json places = circumstance.value("inputs", Json::array());
  for (std::size_t i = 0; i < content["inputs"].size(); ++i) {
    const Json& input = content["inputs"][i];
    const std::string path = i < places.size() ? places[i].value("path", "") : "";
    r.inputs.push_back({input.value("role", ""), path, input.value("sha256", "")});
  }
  return r;
}

}  // namespace facebench
