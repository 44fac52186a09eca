#include "facebench/reports/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "facebench/core/error.h"
#include "facebench/io/confine.h"
#include "facebench/io/embeddings.h"
#include "facebench/io/file.h"
#include "facebench/io/json.h"
#include "facebench/io/sha256.h"
#include "facebench/protocols/run_folder.h"
#include "facebench/protocols/scoring.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// What a run folder may hold of data.
constexpr const char* kOwnFiles[] = {"run.json",    "scores.h5", "metrics.json",
                                     "curves.json", "pack.h5",   "embeddings.h5"};

std::string text_or(const Json& object, const char* key, std::string fallback = "") {
  if (!object.is_object() || !object.contains(key) || !object[key].is_string()) return fallback;
  return object[key].get<std::string>();
}

// Runs of earlier versions do not.
bool keeps_curves(const Run& run) {
  return run.manifest.content.at("outputs").contains("curves.json") ||
         fs::exists(run.folder / "curves.json");
}

std::vector<const char*> recorded_files(const Run& run) {
  std::vector<const char*> files = {"scores.h5", "metrics.json"};
  if (keeps_curves(run)) files.push_back("curves.json");
  return files;
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

// Every value of `recorded` that differs from `wanted`, by its path, for people.
std::string differences(const Json& recorded, const Json& wanted, std::string_view at = "") {
  std::string found;
  for (const Json& change : Json::diff(recorded, wanted))
    found += fmt::format("{}{}{}", found.empty() ? "" : ", ", at,
                         change["path"].get_ref<const std::string&>());
  return found;
}

// A file of numbers against what scores.h5 gives.
Check compare_numbers(const char* what, const fs::path& path, const Json& again,
                      const std::string& text) {
  const std::string name = fmt::format("{} from scores", what);
  const std::string file = path.filename().string();
  try {
    const std::string recorded = read_file(path);
    if (recorded == text)
      return {name, true, fmt::format("{} computed from scores.h5 has the same bytes", file)};
    const std::string where = differences(parse_json(recorded, path.string()), again);
    return {name, false,
            where.empty() ? fmt::format("{} holds the same numbers in another spelling", file)
                          : fmt::format("{} differs from what scores.h5 gives: {}", file, where)};
  } catch (const Error& e) {
    return {name, false, e.what()};
  }
}

// The manifest's content against the copy in scores.h5 and what follows from the scores, then
// against its own hash: the first says which value was changed, the last sees a change in both.
Check compare_content(const Run& run, const RunScores& s, const std::vector<TrackResult>& tracks,
                      const Job& job) {
  Check check{"content of run.json", false, ""};
  Json wanted = s.content;
  wanted.update(content_of_scores(s, tracks));
  for (const std::string_view file : recorded_files(run))
    wanted["outputs"][file] = sha256_file(run.folder / file, job);
  if (const std::string found = differences(run.manifest.content, wanted); !found.empty()) {
    check.detail = "differs from what scores.h5 holds: " + found;
  } else if (const std::string now = content_hash(run.manifest);
             now != run.manifest.recorded_hash) {
    check.detail =
        fmt::format("has SHA-256 {}, content_sha256 says {}", now,
                    run.manifest.recorded_hash.empty() ? "nothing" : run.manifest.recorded_hash);
  } else {
    check.same = true;
    check.detail = "as scores.h5 holds it, SHA-256 as recorded";
  }
  return check;
}

// What scores.h5 gives: the metrics and the content of the manifest.
std::vector<Check> recompute(const Run& run, const RunScores& s, const Job& job) {
  try {
    const auto [tracks, curves] = measure_run(s, job);
    const Json metrics = metrics_json(s, tracks), drawn = curves_json(curves);
    std::vector<Check> checks = {
        compare_numbers("metrics", run.folder / "metrics.json", metrics, pretty_json(metrics))};
    if (keeps_curves(run))
      checks.push_back(compare_numbers("curves", run.folder / "curves.json", drawn,
                                       canonical_json(drawn) + "\n"));
    // Before format 5 scores.h5 did not hold the content.
    if (s.content.is_object()) checks.push_back(compare_content(run, s, tracks, job));
    return checks;
  } catch (const std::logic_error& e) {
    return {{"metrics from scores", false, e.what()}};
  } catch (const Error& e) {
    return {{"metrics from scores", false, e.what()}};
  }
}

// The file of embeddings that the run kept, or read: where it lies today, if it is the same one.
fs::path find_embeddings(const Run& run, const Job& job) {
  if (const fs::path kept = run.folder / "embeddings.h5"; fs::exists(kept)) return kept;
  const Json& recorded = run.manifest.content.at("inputs");
  const Json& circumstance = run.manifest.circumstance;
  const Json places = circumstance.contains("inputs") ? circumstance["inputs"] : Json::array();
  for (std::size_t i = 0; i < recorded.size() && places.is_array() && i < places.size(); ++i) {
    const fs::path path = text_or(places[i], "path");
    if (text_or(recorded[i], "role") == "embeddings" && path.extension() == ".h5" &&
        may_open(path, {run.folder}) && fs::is_regular_file(path) &&
        sha256_file(path, job) == text_or(recorded[i], "sha256"))
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
    const UnitEmbeddings units = unit_embeddings(
        s.trials, embeddings, s.options.match.value_or(s.spec.match), *s.options.fusion, job);
    ScoreDifferences found;
    for (std::size_t t = 0; t < s.trials.tracks.size(); ++t) {
      const Scores again = s.trials.tracks[t].trials->score(units, s.scores[t].storage, job);
      const ScoreDifferences own = again.differences(s.scores[t]);
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
  for (const char* file : kOwnFiles)
    if (!may_open(folder / file, {folder}))
      fail((folder / file).string(), "is a link that leads out of the run folder",
           "Nothing outside it is opened under --untrusted.");
  const Run run = read_changed_run(folder);
  std::vector<Check> checks;
  for (const char* file : recorded_files(run))
    checks.push_back(
        compare_hash(file, folder / file, text_or(run.manifest.content.at("outputs"), file), job));
  try {
    const RunScores scores = read_scores(folder / "scores.h5");
    for (Check& check : recompute(run, scores, job)) checks.push_back(std::move(check));
    if (auto check = rescore(run, scores, job)) checks.push_back(std::move(*check));
  } catch (const Error& e) {
    checks.push_back({"metrics from scores", false, e.what()});
  }
  return checks;
}

std::vector<Check> verify_inputs(const fs::path& folder, const fs::path& root, const Job& job) {
  const Run run = read_changed_run(folder);
  const Json& recorded = run.manifest.content.at("inputs");
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
    else if (!may_open(path, {folder, base}))
      checks.push_back({name, false,
                        fmt::format("not read: under --untrusted only the run folder and --root "
                                    "are, and it lay at {}",
                                    path.string())});
    else
      checks.push_back(compare_hash(name, path, text_or(recorded[i], "sha256"), job));
  }
  return checks;
}

bool all_same(const std::vector<Check>& checks) {
  return std::ranges::all_of(checks, &Check::same);
}

}  // namespace facebench
