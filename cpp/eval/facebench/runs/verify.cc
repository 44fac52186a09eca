#include "facebench/runs/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/core/version.h"
#include "facebench/evaluation/backend_scores.h"
#include "facebench/evaluation/warnings.h"
#include "facebench/io/confine.h"
#include "facebench/io/embeddings.h"
#include "facebench/io/file.h"
#include "facebench/io/json.h"
#include "facebench/io/sha256.h"
#include "facebench/runs/internal/checks.h"
#include "facebench/runs/own_protocol.h"
#include "facebench/runs/run_folder.h"
#include "facebench/trials/scoring.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// What a run folder may hold.
constexpr const char* kOwnFiles[] = {"run.json",    "scores.h5",   "metrics.json",
                                     "curves.json", "pack.h5",     "embeddings.h5",
                                     "report.md",   "report.html", "card.md"};

// Runs of earlier versions do not. `format`: of scores.h5, 0 where it cannot be read.
bool keeps_curves(const Run& run, std::int64_t format = 0) {
  return format >= kFormatWithContent ||
         run.manifest.content.at("outputs").contains("curves.json") ||
         fs::exists(run.folder / "curves.json");
}

std::vector<const char*> recorded_files(const Run& run) {
  std::vector<const char*> files = {"scores.h5", "metrics.json"};
  if (keeps_curves(run)) files.push_back("curves.json");
  return files;
}

// Every value of `recorded` that differs from `expected`, by its path, for people.
std::string differences(const Json& recorded, const Json& expected) {
  std::string paths;
  for (const Json& change : Json::diff(recorded, expected))
    paths += (paths.empty() ? "" : ", ") + change["path"].get<std::string>();
  return paths;
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

// metrics.json or curves.json without what the rule of intervals decides.
Json without_intervals(Json value) {
  if (!value.is_structured()) return value;
  if (value.is_object())
    for (const char* key : {"interval", "interval_note", "no_interval", "method", "band"})
      value.erase(key);
  for (Json& member : value) member = without_intervals(std::move(member));
  return value;
}

// Where a file differs only in intervals that were made by an earlier rule, that is said in place
// of a difference.
Check of_earlier_rule(Check check, const Run& run, const fs::path& path, const Json& again) {
  const std::int64_t rules = interval_rules_of(run.manifest.content);
  if (check.same || rules >= kIntervalRules) return check;
  try {
    const Json recorded = parse_json(read_file(path), path.string());
    if (recorded == again || without_intervals(recorded) != without_intervals(again)) return check;
  } catch (const Error&) {
    return check;
  }
  return not_checked(
      check.name + ": intervals",
      fmt::format("{}: all but the intervals is as scores.h5 gives it; intervals follow another "
                  "rule since facebench {} (rule {}, these are of rule {})",
                  path.filename().string(), kIntervalRulesSince, kIntervalRules, rules));
}

// What the content of a run may say; each is compared with something, or quoted as stated.
constexpr const char* kParts[] = {
    "anonymous",   "backend",       "blemishes", "compiler",       "embedder", "embeddings",
    "facebench",   "images_sha256", "inputs",    "interval_rules", "isa",      "kind",
    "limit",       "matcher",       "notes",     "options",        "outputs",  "pack_sha256",
    "preparation", "protocol",      "score",     "synthetic",      "tracks",   "warnings"};

// The manifest's content against what follows from the scores and, where scores.h5 holds one, its
// copy; then against its own hash: the first says which value was changed, the last sees a change
// in both.
std::vector<Check> compare_content(const Run& run, const RunScores& s,
                                   const std::vector<TrackResult>& tracks, const Job& job) {
  const Json& recorded = run.manifest.content;
  Check check{"content of run.json", false, ""};
  const bool copied = s.format >= kFormatWithContent;
  Json expected = copied ? s.content : recorded;
  expected.update(content_of_scores(s, tracks));
  if (copied &&
      !(1 <= interval_rules_of(recorded) && interval_rules_of(recorded) <= kIntervalRules))
    expected["interval_rules"] = kIntervalRules;
  if (copied) {
    for (const auto& [key, value] : recorded.items())
      if (std::ranges::find(kParts, key) == std::end(kParts)) expected.erase(key);
    // What a back end's scores are called is compared where it is fitted again.
    if (!recorded.contains("backend"))
      expected["score"] = recorded.value("embeddings", Json()).is_object() ? "cosine" : "given";
    if (recorded.contains("anonymous")) expected["anonymous"] = true;
  }
  for (const std::string_view file : recorded_files(run))
    expected["outputs"][file] = sha256_file(run.folder / file, job);
  std::vector<std::string> unfollowed;  // of an earlier format: what nothing else says
  if (!copied) {
    // Options that came later.
    for (const char* key : {"accuracy_convention", "tar_at_far_convention",
                            "identification_convention", "rank_ties", "match"})
      if (!recorded.at("options").contains(key)) expected["options"].erase(key);
    // What format 2 called a kind of its own.
    for (auto& [name, track] : expected["tracks"].items())
      if (const auto then = recorded.at("tracks").find(name);
          s.format == 2 && then != recorded.at("tracks").end() &&
          text_at(*then, "/kind") == "all_pairs" && text_at(track, "/kind") == "dense")
        track["kind"] = "all_pairs";
    const Json follows = content_of_scores(s, tracks);
    for (const auto& [key, value] : recorded.items())
      if (!follows.contains(key) && key != "outputs" && key != "inputs") unfollowed.push_back(key);
  }
  const std::string hash = run.manifest.recorded_hash;
  if (const std::string paths = differences(recorded, expected); !paths.empty())
    check.detail = "differs from what scores.h5 holds: " + paths;
  else if (const std::string now = content_hash(run.manifest);
           now != hash && (copied || !hash.empty()))
    check.detail =
        fmt::format("has SHA-256 {}, content_sha256 says {}", now, hash.empty() ? "nothing" : hash);
  else if (copied)
    check = {check.name, true, "as scores.h5 holds it, SHA-256 as recorded"};
  else
    check = {check.name, true, "protocol, options, tracks and outputs follow from scores.h5"};
  std::vector<Check> checks = {std::move(check)};
  if (!copied)
    checks.push_back(
        not_checked("rest of run.json",
                    fmt::format("written before format {} of scores.h5 (it says {}), which holds "
                                "nothing to compare with: {}",
                                kFormatWithContent, s.format, fmt::join(unfollowed, ", "))));
  return checks;
}

// Host, command, folders and times: nothing else says them, so that only their hash is compared.
Check check_circumstance(const Run& run) {
  const char* name = "circumstance of run.json";
  const Json& circumstance = run.manifest.circumstance;
  const std::string& recorded = run.manifest.recorded_circumstance_hash;
  if (recorded.empty())
    return not_checked(name, "has no circumstance_sha256: of an earlier version, or changed");
  const std::string now = circumstance_hash(run.manifest);
  if (now != recorded)
    return {name, false, fmt::format("has SHA-256 {}, circumstance_sha256 says {}", now, recorded)};
  Json keys = circumstance_of_this_process();
  keys.update({{"root", nullptr}, {"inputs", nullptr}});
  for (const auto& [key, value] : keys.items())
    if (!circumstance.contains(key)) return {name, false, fmt::format("lacks '{}'", key)};
  const auto roles = [](const Json& inputs) {
    std::vector<std::string> texts;
    for (const Json& input : inputs) texts.push_back(text_at(input, "/role"));
    return texts;
  };
  if (roles(circumstance["inputs"]) != roles(run.manifest.content.at("inputs")))
    return {name, false, "lists other inputs than the content"};
  return {name, true, "SHA-256 as recorded"};
}

// The versions that wrote a format are this one and those before it, from the first on.
constexpr std::array<int, 3> kFirstVersion = {0, 1, 0};

std::optional<std::array<int, 3>> version_numbers(const std::string& text) {
  std::array<int, 3> numbers{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const char* begin = text.data() + at;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), numbers[i]);
    if (error != std::errc() || numbers[i] < 0 || *begin == '-') return std::nullopt;
    at = static_cast<std::size_t>(end - text.data());
    if (i + 1 == numbers.size()) break;
    if (at >= text.size() || text[at++] != '.') return std::nullopt;
  }
  return numbers;
}

// The version that a run says wrote it. Pages and rules of another version are not made again, so
// that a run must not name one that wrote no such run.
Check check_version(const Run& run) {
  const std::string by = text_at(run.manifest.content, "/facebench");
  const auto numbers = version_numbers(by);
  if (by == version()) return {"version", true, "facebench " + by};
  if (!numbers || *numbers < kFirstVersion)
    return {"version", false,
            fmt::format("the run says it was written by facebench '{}', which never wrote a run",
                        printable(by))};
  return not_checked(
      "version", fmt::format("written by facebench {}, and this is {}: verify it with that one", by,
                             version()));
}

Check check_protocol(const Run& run, const RunScores& s) {
  const std::optional<OwnProtocol> own = own_protocol(run);
  if (!own) return {"protocol", true, fmt::format("{}, version {}", s.spec.id, s.spec.version)};
  const std::string by = text_at(run.manifest.content, "/facebench");
  if (own->alike && s.format >= kFormatWithContent && by == version())
    return {"protocol", false, own->said + " Give it an id and a title of its own."};
  return not_checked("protocol", own->said + (by == version() ? ""
                                                              : " The run says that it is of "
                                                                "another version."));
}

// Warnings that follow from the scores and are not among those of the run.
Check check_warnings(const Run& run, const RunScores& s, const std::vector<TrackResult>& tracks) {
  const Json& content = run.manifest.content;
  Result result;
  static_cast<ScoredTrials&>(result) = s;
  result.tracks = tracks;
  result.score = text_at(content, "/score");
  if (content.contains("embeddings")) result.embeddings = content["embeddings"];
  const Json recorded = content.value("warnings", Json::array());
  for (const std::string& warning : result_warnings(result))
    if (std::ranges::find(recorded, Json(warning)) == recorded.end())
      return {"warnings", false, "run.json lacks one: " + warning};
  return {"warnings", true,
          "those that follow from the scores are there" +
              stated_beside(recorded, result_warnings(result))};
}

// What scores.h5 gives: the metrics and the content of the manifest.
std::vector<Check> recompute(const Run& run, const RunScores& s, const Job& job) {
  try {
    const auto [tracks, curves] = measure_run(s, job);
    const Json metrics = metrics_json(s, tracks), drawn = curves_json(curves);
    const fs::path metrics_path = run.folder / "metrics.json",
                   curves_path = run.folder / "curves.json";
    std::vector<Check> checks = {
        of_earlier_rule(compare_numbers("metrics", metrics_path, metrics, pretty_json(metrics)),
                        run, metrics_path, metrics)};
    if (keeps_curves(run, s.format))
      checks.push_back(of_earlier_rule(
          compare_numbers("curves", curves_path, drawn, canonical_json(drawn) + "\n"), run,
          curves_path, drawn));
    for (Check& check : compare_content(run, s, tracks, job)) checks.push_back(std::move(check));
    checks.push_back(check_warnings(run, s, tracks));
    checks.push_back(check_protocol(run, s));
    checks.push_back(check_version(run));
    return checks;
  } catch (const std::logic_error& e) {
    return {{"metrics from scores", false, e.what()}};
  } catch (const Error& e) {
    return {{"metrics from scores", false, e.what()}};
  }
}

// Where the input of this role lies today, if it is the same file; empty: it is not there.
fs::path find_input(const Run& run, std::string_view role, const char* extension, const Job& job) {
  const Json& recorded = run.manifest.content.at("inputs");
  const Json& circumstance = run.manifest.circumstance;
  const Json places = circumstance.contains("inputs") ? circumstance["inputs"] : Json::array();
  for (std::size_t i = 0; i < recorded.size() && places.is_array() && i < places.size(); ++i) {
    const fs::path path = text_at(places[i], "/path");
    if (text_at(recorded[i], "/role") == role && path.extension() == extension &&
        may_open(path, {run.folder}) && fs::is_regular_file(path) &&
        sha256_file(path, job) == text_at(recorded[i], "/sha256"))
      return path;
  }
  return {};
}

// The file of embeddings that the run kept, or read: where it lies today, if it is the same one.
fs::path find_embeddings(const Run& run, const Job& job) {
  if (const fs::path kept = run.folder / "embeddings.h5"; fs::exists(kept)) return kept;
  return find_input(run, "embeddings", ".h5", job);
}

bool has_input(const Run& run, std::string_view role) {
  return std::ranges::any_of(run.manifest.content.at("inputs"),
                             [&](const Json& input) { return text_at(input, "/role") == role; });
}

// Options as they were, from what the manifest says of the back end; what lacks, where a file is
// not there any more.
std::string ask_for_backend(const Run& run, EvaluationOptions& options, const Job& job) {
  const Json& said = run.manifest.content["backend"];
  options.backend = text_at(said, "/spec");
  if (const std::string normalise = text_at(said, "/normalise"); !normalise.empty())
    options.normalise = normalise;
  options.allow_overlap = said.contains("overlap");
  fs::path file;
  for (const auto& [role, place, extension] : {std::tuple{"backend", &file, ".backend"},
                                               {"train", &options.train, ".h5"},
                                               {"cohort", &options.cohort, ".h5"}})
    if (has_input(run, role) && (*place = find_input(run, role, extension, job)).empty())
      return role;
  if (!file.empty()) options.backend = file.string();
  return {};
}

// The raw scores once more from the embeddings.
Check rescore(const Run& run, const RunScores& s, const Job& job) {
  const fs::path path = find_embeddings(run, job);
  if (path.empty())
    return not_checked(
        "scores from embeddings",
        run.manifest.content.contains("matcher")
            ? "the scores are those of a library of FRTE, which makes none; --again with --model "
              "compares some pairs again"
        : text_at(run.manifest.content, "/score") == "given"
            ? "the scores were given, not computed from embeddings"
            : "the embeddings are neither in the run folder nor, as .h5, where they were read");
  Check check{"scores from " + path.filename().string(), true, ""};
  try {
    const EmbeddingSet embeddings = read_embeddings(path);
    // Those that a run kept are compared beside its pack.
    if (s.format >= kFormatWithContent && path.parent_path() != run.folder)
      if (const std::string paths = differences(run.manifest.content.value("embeddings", Json()),
                                                embeddings_json(embeddings));
          !paths.empty())
        return {check.name, false, "run.json says something else of the embeddings: " + paths};
    const UnitEmbeddings units = unit_embeddings(
        s.trials, embeddings, s.options.match.value_or(s.spec.match), *s.options.fusion, job);
    std::vector<Scores> all;
    if (run.manifest.content.contains("backend")) {
      ScoredTrials asked{s.spec, s.options, s.trials};
      if (const std::string role = ask_for_backend(run, asked.options, job); !role.empty())
        return not_checked(check.name,
                           fmt::format("the back end is not fitted again: the file '{}' is not "
                                       "where it was, or is another one",
                                       role));
      std::vector<Storage> storage;
      for (const Scores& scores : s.scores) storage.push_back(scores.storage);
      BackendScores again = backend_scores(asked, embeddings, units, storage, job);
      if (const std::string paths = differences(run.manifest.content["backend"], again.content);
          !paths.empty())
        return {check.name, false, "the back end, fitted again, is another one: " + paths};
      if (again.score != text_at(run.manifest.content, "/score"))
        return {check.name, false, fmt::format("the back end's scores are '{}'", again.score)};
      all = std::move(again.scores);
    }
    ScoreDifferences sum;
    for (std::size_t t = 0; t < s.trials.tracks.size(); ++t) {
      const Scores again = all.empty()
                               ? s.trials.tracks[t].trials->score(units, s.scores[t].storage, job)
                               : std::move(all[t]);
      const ScoreDifferences of_track = again.differences(s.scores[t]);
      sum.all += of_track.all;
      sum.different += of_track.different;
    }
    if (units.sample_status != s.status)
      return {check.name, false, "the status of samples is not that of the embeddings"};
    check.same = sum.different == 0;
    check.detail = check.same ? fmt::format("{} scores{}, equal to the last digit", sum.all,
                                            all.empty() ? "" : " by the back end")
                              : fmt::format("{} of {} scores differ", sum.different, sum.all);
  } catch (const std::invalid_argument& e) {  // a back end that cannot be
    check = {check.name, false, e.what()};
  } catch (const Error& e) {
    check = {check.name, false, e.what()};
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
        compare_hash(file, folder / file,
                     text_at(run.manifest.content.at("outputs"), fmt::format("/{}", file)), job));
  try {
    const RunScores scores = read_scores(folder / "scores.h5");
    for (Check& check : recompute(run, scores, job)) checks.push_back(std::move(check));
    checks.push_back(rescore(run, scores, job));
    check_kept_names(checks, run, scores);
  } catch (const Error& e) {
    checks.push_back({"metrics from scores", false, e.what()});
  }
  check_kept(checks, run, job);
  checks.push_back(check_circumstance(run));
  return checks;
}

bool all_same(const std::vector<Check>& checks) {
  return std::ranges::none_of(checks,
                              [](const Check& check) { return check.checked && !check.same; });
}

}  // namespace facebench
