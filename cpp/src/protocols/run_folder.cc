#include "facebench/protocols/run_folder.h"

#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKind = "evaluation";
constexpr std::int64_t kScoresFormat = 1;

std::vector<std::uint8_t> status_bytes(std::span<const SampleStatus> status) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(status.size());
  for (const SampleStatus s : status) bytes.push_back(static_cast<std::uint8_t>(s));
  return bytes;
}

template <class T>
void write_column(H5Writer& file, const std::string& name, const std::vector<T>& values) {
  file.write<T>(name, values, {static_cast<std::int64_t>(values.size())});
}

void write_scores(const fs::path& path, const EvaluationResult& r) {
  H5Writer file(path);
  file.write_json("/manifest", {{"format", kScoresFormat},
                                {"protocol", r.spec.text},
                                {"options", options_to_json(r.options)}});
  file.write_texts("/identity", r.trials.identity_names);
  file.write_texts("/sample/name", r.trials.names);
  write_column(file, "/sample/identity", r.trials.identity);
  write_column(file, "/sample/status", status_bytes(r.status));
  for (std::size_t t = 0; t < r.trials.tracks.size(); ++t) {
    const Track& track = r.trials.tracks[t];
    const std::string group = "/tracks/" + track.name + "/";
    std::vector<std::int32_t> first, second;
    std::vector<SampleStatus> status;
    for (const Comparison& c : track.comparisons) {
      first.push_back(c.first);
      second.push_back(c.second);
      const SampleStatus a = r.status[static_cast<std::size_t>(c.first)];
      status.push_back(a != SampleStatus::ok ? a : r.status[static_cast<std::size_t>(c.second)]);
    }
    write_column(file, group + "first", first);
    write_column(file, group + "second", second);
    write_column(file, group + "genuine", track.genuine);
    if (!track.fold.empty()) write_column(file, group + "fold", track.fold);
    write_column(file, group + "score", r.scores[t]);
    write_column(file, group + "status", status_bytes(status));
  }
  file.commit();
}

Json track_content(const TrackResult& t) {
  Json failed = Json::array();
  for (const FailedSample& f : t.failed)
    failed.push_back({{"name", f.name}, {"status", sample_status_name(f.status)}});
  return {{"comparisons", t.comparisons},
          {"dropped", t.dropped},
          {"failed_comparisons", t.failed_comparisons},
          {"samples", t.samples},
          {"identities", t.identities},
          {"failed", failed}};
}

// The path below the root, or null where it lies elsewhere.
Json below(const fs::path& path, const fs::path& root) {
  if (root.empty()) return nullptr;
  const fs::path relative = fs::absolute(path).lexically_normal().lexically_relative(
      fs::absolute(root).lexically_normal());
  if (relative.empty() || *relative.begin() == "..") return nullptr;
  return relative.generic_string();
}

}  // namespace

void write_run_files(const fs::path& folder, const EvaluationResult& r, const RunInfo& info) {
  write_scores(folder / "scores.h5", r);
  write_file(folder / "metrics.json", pretty_json(metrics_json(r.spec, r.options, r.tracks)));

  Manifest manifest;
  Json& content = manifest.content = content_basics();
  content["kind"] = kKind;
  content["protocol"] = {{"id", r.spec.id},
                         {"version", r.spec.version},
                         {"title", r.spec.title},
                         {"sha256", r.spec.sha256},
                         {"reader", r.spec.reader_name},
                         {"reader_options", r.spec.reader->options()}};
  content["options"] = options_to_json(r.options);
  content["score"] = r.score;
  content["notes"] = r.notes;
  content["embeddings"] = r.embeddings.empty() ? Json(nullptr) : r.embeddings;
  content["inputs"] = Json::array();
  manifest.circumstance = circumstance_of_this_process(info.command, info.threads);
  manifest.circumstance["root"] =
      info.root.empty() ? Json(nullptr) : Json(fs::absolute(info.root).generic_string());
  manifest.circumstance["inputs"] = Json::array();
  for (const RunInput& input : r.inputs) {
    content["inputs"].push_back({{"role", input.role}, {"sha256", input.sha256}});
    manifest.circumstance["inputs"].push_back({{"role", input.role},
                                               {"path", fs::absolute(input.path).generic_string()},
                                               {"below_root", below(input.path, info.root)}});
  }
  for (const TrackResult& t : r.tracks) content["tracks"][t.name] = track_content(t);
  content["outputs"] = {{"scores.h5", sha256_file(folder / "scores.h5")},
                        {"metrics.json", sha256_file(folder / "metrics.json")}};
  content.update(info.content);
  manifest.circumstance.update(info.circumstance);
  write_manifest(folder / "run.json", manifest);
}

bool is_run_folder(const fs::path& folder) {
  try {
    const Manifest m = read_manifest(folder / "run.json");
    return m.content.value("kind", "") == kKind;
  } catch (const std::exception&) {
    return false;
  }
}

Run read_run(const fs::path& folder) {
  Run run;
  run.folder = folder;
  const fs::path path = folder / "run.json";
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    fail(folder.string(), "is not a run folder: it has no run.json",
         "Name a folder that 'eval' or 'run' wrote.");
  run.manifest = read_manifest(path);
  const Json& c = run.manifest.content;
  const auto has_text = [](const Json& j, const char* key) {
    return j.is_object() && j.contains(key) && j[key].is_string();
  };
  if (!has_text(c, "kind") || c["kind"] != kKind)
    fail(path.string(), "is not the manifest of an evaluation");
  const auto kind_is = [&](const char* key, bool (Json::*is)() const) {
    return c.contains(key) && (c[key].*is)();
  };
  if (!kind_is("protocol", &Json::is_object) || !kind_is("options", &Json::is_object) ||
      !kind_is("tracks", &Json::is_object) || !kind_is("outputs", &Json::is_object) ||
      !kind_is("inputs", &Json::is_array))
    fail(path.string(), "lacks a part that the manifest of an evaluation has",
         "The file was changed or cut; run the evaluation again.");
  const fs::path metrics = folder / "metrics.json";
  run.metrics = parse_json(read_file(metrics, 1ull << 28), metrics.string());
  if (!run.metrics.is_object() || !run.metrics.contains("tracks") ||
      !run.metrics["tracks"].is_object())
    fail(metrics.string(), "holds no tracks", "Run the evaluation again.");
  return run;
}

RunScores read_scores(const fs::path& path) {
  const H5Reader file(path);
  const std::string where = path.string();
  RunScores r;
  const Json manifest = file.read_json("/manifest");
  if (!manifest.is_object() || !manifest.contains("format") ||
      manifest["format"] != kScoresFormat || !manifest.contains("protocol") ||
      !manifest["protocol"].is_string() || !manifest.contains("options"))
    fail(where, fmt::format("is not a scores file of format {}", kScoresFormat));
  r.spec = parse_protocol(manifest["protocol"].get<std::string>(), where + ":protocol");
  options_from_json(r.options, manifest["options"], where + ":options");

  r.trials.identity_names = file.read_texts("/identity");
  r.trials.names = file.read_texts("/sample/name");
  r.trials.identity = file.read<std::int32_t>("/sample/identity", 1);
  const auto statuses = file.read<std::uint8_t>("/sample/status", 1);
  if (statuses.size() != r.trials.names.size())
    fail(where, fmt::format("{} statuses for {} samples", statuses.size(), r.trials.names.size()));
  try {
    for (const std::uint8_t s : statuses) r.status.push_back(sample_status_of(s));
    for (const std::string& name : file.names("/tracks")) {
      const std::string group = "/tracks/" + name + "/";
      Track track;
      track.name = name;
      const auto first = file.read<std::int32_t>(group + "first", 1);
      const auto second = file.read<std::int32_t>(group + "second", 1);
      if (first.size() != second.size())
        fail(where, fmt::format("track {}: {} first and {} second sides", name, first.size(),
                                second.size()));
      for (std::size_t k = 0; k < first.size(); ++k)
        track.comparisons.push_back({first[k], second[k]});
      track.genuine = file.read<std::uint8_t>(group + "genuine", 1);
      if (file.has(group + "fold")) track.fold = file.read<std::int32_t>(group + "fold", 1);
      r.scores.push_back(file.read<double>(group + "score", 1));
      if (r.scores.back().size() != first.size())
        fail(where, fmt::format("track {}: {} scores for {} comparisons", name,
                                r.scores.back().size(), first.size()));
      r.trials.tracks.push_back(std::move(track));
    }
    r.trials.check();
  } catch (const std::logic_error& e) {  // what the checks of other floors throw
    fail(where, e.what(), "The file was changed; run the evaluation again.");
  }
  return r;
}

}  // namespace facebench
