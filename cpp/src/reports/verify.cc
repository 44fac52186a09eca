#include "facebench/reports/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "facebench/core/error.h"
#include "facebench/io/embeddings.h"
#include "facebench/io/file.h"
#include "facebench/io/json.h"
#include "facebench/io/sha256.h"
#include "facebench/protocols/run_folder.h"
#include "facebench/protocols/scoring.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

std::string text_or(const Json& object, const char* key, std::string fallback = "") {
  if (!object.is_object() || !object.contains(key) || !object[key].is_string()) return fallback;
  return object[key].get<std::string>();
}

Check compare_hash(std::string name, const fs::path& path, const std::string& recorded,
                   const Job& job) {
  try {
    const std::string now = sha256_file(path, job);
    if (now == recorded) return {std::move(name), true, "SHA-256 as recorded: " + path.string()};
    return {std::move(name), false,
            fmt::format("{} has SHA-256 {}, recorded is {}", path.string(), now, recorded)};
  } catch (const Error& e) {
    return {std::move(name), false, e.what()};
  }
}

// The path of the first value that differs, for people.
std::string first_difference(const Json& a, const Json& b, const std::string& at) {
  if (a == b) return "";
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items()) {
      if (!b.contains(key)) return at + "/" + key;
      if (const std::string d = first_difference(value, b[key], at + "/" + key); !d.empty())
        return d;
    }
  }
  return at.empty() ? "/" : at;
}

Check recompute(const fs::path& folder, const RunScores& s, const Json& metrics, const Job& job) {
  const std::string name = "metrics from scores";
  try {
    const auto tracks = measure_tracks(s.spec, s.options, s.trials, s.status, s.scores, job);
    const Json again = metrics_json(s.spec, s.options, tracks);
    if (pretty_json(again) == read_file(folder / "metrics.json"))
      return {name, true, "metrics.json computed from scores.h5 has the same bytes"};
    const std::string where = first_difference(again, metrics, "");
    return {name, false,
            where.empty() ? "metrics.json holds the same numbers in another spelling"
                          : "metrics.json differs from what scores.h5 gives, first at " + where};
  } catch (const std::logic_error& e) {
    return {name, false, e.what()};
  } catch (const Error& e) {
    return {name, false, e.what()};
  }
}

// The file of embeddings that the run kept, or read: where it lies today, if it is the same one.
fs::path find_embeddings(const Run& run, const Job& job) {
  if (const fs::path kept = run.folder / "embeddings.h5"; fs::exists(kept)) return kept;
  const Json& recorded = run.manifest.content["inputs"];
  const Json& circumstance = run.manifest.circumstance;
  const Json places = circumstance.contains("inputs") ? circumstance["inputs"] : Json::array();
  for (std::size_t i = 0; i < recorded.size() && places.is_array() && i < places.size(); ++i) {
    const fs::path path = text_or(places[i], "path");
    if (text_or(recorded[i], "role") == "embeddings" && path.extension() == ".h5" &&
        fs::is_regular_file(path) && sha256_file(path, job) == text_or(recorded[i], "sha256"))
      return path;
  }
  return {};
}

// The raw scores once more from the embeddings; no check where those are not there.
std::optional<Check> rescore(const Run& run, const RunScores& s, const Job& job) {
  const fs::path path = find_embeddings(run, job);
  if (path.empty()) return {};
  Check check{"scores from " + path.filename().string(), true, ""};
  try {
    const EmbeddingSet embeddings = read_embeddings(path);
    const SampleRows rows = find_samples(s.trials, embeddings, s.spec.match);
    const UnitEmbeddings units =
        unit_embeddings(s.trials, rows, embeddings, *s.options.fusion, job);
    ScoreDifferences found;
    for (std::size_t t = 0; t < s.trials.tracks.size(); ++t) {
      const KeptScores again =
          s.trials.tracks[t].trials->score(units, storage_of(s.scores[t]), job);
      const ScoreDifferences own = score_differences(again, s.scores[t]);
      found.all += own.all;
      found.different += own.different;
    }
    check.same = found.different == 0;
    check.detail = check.same ? fmt::format("{} scores, equal to the last digit", found.all)
                              : fmt::format("{} of {} scores differ", found.different, found.all);
  } catch (const Error& e) {
    check.same = false;
    check.detail = e.what();
  }
  return check;
}

}  // namespace

std::vector<Check> verify_scores(const fs::path& folder, const Job& job) {
  const Run run = read_run(folder);
  std::vector<Check> checks;
  for (const char* file : {"scores.h5", "metrics.json"})
    checks.push_back(
        compare_hash(file, folder / file, text_or(run.manifest.content["outputs"], file), job));
  try {
    const RunScores scores = read_scores(folder / "scores.h5");
    checks.push_back(recompute(folder, scores, run.metrics, job));
    if (auto check = rescore(run, scores, job)) checks.push_back(std::move(*check));
  } catch (const Error& e) {
    checks.push_back({"metrics from scores", false, e.what()});
  }
  return checks;
}

std::vector<Check> verify_inputs(const fs::path& folder, const fs::path& root, const Job& job) {
  const Run run = read_run(folder);
  const Json& recorded = run.manifest.content["inputs"];
  const Json& circumstance = run.manifest.circumstance;
  const Json places = circumstance.contains("inputs") ? circumstance["inputs"] : Json::array();
  std::vector<Check> checks;
  std::error_code ignored;  // a root may be a file: an archive with its lists
  const fs::path base =
      fs::is_regular_file(root, ignored) ? fs::absolute(root).parent_path() : root;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const std::string name = "input " + text_or(recorded[i], "role", "?");
    const Json place = places.is_array() && i < places.size() ? places[i] : Json();
    const std::string below = text_or(place, "below_root");
    const fs::path path =
        !base.empty() && !below.empty() ? base / below : fs::path(text_or(place, "path"));
    if (path.empty())
      checks.push_back({name, false, "run.json does not say where it lay"});
    else
      checks.push_back(compare_hash(name, path, text_or(recorded[i], "sha256"), job));
  }
  return checks;
}

bool all_same(const std::vector<Check>& checks) {
  return std::ranges::all_of(checks, &Check::same);
}

}  // namespace facebench
