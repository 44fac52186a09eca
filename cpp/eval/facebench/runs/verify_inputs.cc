// The inputs of a run against their hashes, and its comparisons against the lists, read again.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "facebench/core/error.h"
#include "facebench/io/confine.h"
#include "facebench/io/exclusion.h"
#include "facebench/io/presence.h"
#include "facebench/io/sha256.h"
#include "facebench/runs/internal/checks.h"
#include "facebench/runs/run_folder.h"
#include "facebench/runs/verify.h"
#include "facebench/trials/anonymous.h"
#include "facebench/trials/without.h"

namespace facebench {

namespace fs = std::filesystem;

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

namespace {

constexpr const char* kLists = "comparisons from the lists";

// Where input i of the manifest lies now; empty where run.json does not say it.
fs::path input_path(const Run& run, std::size_t i, const fs::path& base) {
  const Json& circumstance = run.manifest.circumstance;
  const Json places = circumstance.value("inputs", Json::array());
  const Json place = places.is_array() && i < places.size() ? places[i] : Json();
  const std::string below = text_at(place, "/below_root");
  return !base.empty() && !below.empty() ? base / below : fs::path(text_at(place, "/path"));
}

// The folder of the lists: below the root, else the one in which an input is a file of theirs.
fs::path folder_of_lists(const Run& run, const RunScores& s, const fs::path& root,
                         const fs::path& base) {
  const fs::path then = text_at(run.manifest.circumstance, "/root");
  for (const fs::path& place : {root, then}) {
    if (place.empty() || !may_open(place, {run.folder, base})) continue;
    try {
      return find_lists(s.spec, {.root = place});
    } catch (const Error&) {  // not there any more
    }
  }
  const Json& inputs = run.manifest.content.at("inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const fs::path path = input_path(run, i, base);
    for (const std::string& file : s.spec.reader->files())
      if (path.generic_string().ends_with("/" + file)) {
        const std::string text = path.generic_string();
        const fs::path folder = text.substr(0, text.size() - file.size());
        if (may_open(folder, {run.folder, base}) && s.spec.reader->missing(folder).empty())
          return folder;
      }
  }
  return {};
}

// The first thing in which the trials are not those of the lists; empty: none.
std::string difference_of_trials(const TrialSet& run, const TrialSet& lists) {
  if (run.names != lists.names) {
    const std::size_t at = static_cast<std::size_t>(
        std::ranges::mismatch(run.names, lists.names).in1 - run.names.begin());
    return fmt::format("{} samples, {} in the lists; sample {} is {} where the lists have {}",
                       run.names.size(), lists.names.size(), at,
                       at < run.names.size() ? run.names[at] : "none",
                       at < lists.names.size() ? lists.names[at] : "none");
  }
  const auto person = [](const TrialSet& set, std::int32_t id) {
    return set.identity_names[static_cast<std::size_t>(id)];
  };
  for (std::size_t i = 0; i < run.names.size(); ++i)
    if (person(run, run.identity[i]) != person(lists, lists.identity[i]))
      return fmt::format("{} shows {}, by the lists {}", run.names[i], person(run, run.identity[i]),
                         person(lists, lists.identity[i]));
  const Templates &own = run.templates, &theirs = lists.templates;
  if (own.names != theirs.names || own.begin != theirs.begin || own.sample != theirs.sample ||
      own.medium != theirs.medium || own.score != theirs.score)
    return "the templates are not those of the lists";
  for (std::size_t t = 0; t < own.size(); ++t)
    if (person(run, own.identity[t]) != person(lists, theirs.identity[t]))
      return fmt::format("template {} is of {}, by the lists of {}", own.names[t],
                         person(run, own.identity[t]), person(lists, theirs.identity[t]));
  if (!std::ranges::equal(run.tracks, lists.tracks, {}, &Track::name, &Track::name))
    return "the tracks have other names than those of the lists";
  std::vector<std::int32_t> same(run.units());
  std::iota(same.begin(), same.end(), 0);
  for (std::size_t t = 0; t < run.tracks.size(); ++t) {
    const Trials &a = *run.tracks[t].trials, &b = *lists.tracks[t].trials;
    if (!b.same_as(a, same))
      return fmt::format("track {}: the comparisons are not those of the lists ({} here, {} there)",
                         run.tracks[t].name, a.slots(), b.slots());
  }
  return {};
}

// The lists read again, cut as those of the run; none where what was left out may not be read.
std::optional<TrialSet> read_lists(const Run& run, const RunScores& s, const fs::path& folder,
                                   const fs::path& base) {
  const Json& content = run.manifest.content;
  TrialSet lists = under(s.spec, s.spec.reader->read(folder));
  const Json& inputs = content.at("inputs");
  Exclusions left_out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string role = text_at(inputs[i], "/role");
    if (role != "without" && role != "only") continue;
    const fs::path path = input_path(run, i, base);
    if (path.empty() || !may_open(path, {run.folder, base})) return std::nullopt;
    left_out.push_back(read_exclusion(path, role == "only"));
  }
  lists = without(lists, left_out);
  if (const auto limit = content.find("limit");
      limit != content.end() && limit->is_number_integer())
    lists = limited(lists, limit->get<std::int64_t>());
  return lists;
}

// These lists against what scores.h5 holds of them.
Check check_lists(const Run& run, const RunScores& s, const fs::path& root, const fs::path& base) {
  const Json& content = run.manifest.content;
  const fs::path folder = folder_of_lists(run, s, root, base);
  if (folder.empty()) return not_checked(kLists, "the lists are not there");
  std::optional<TrialSet> found_lists = read_lists(run, s, folder, base);
  if (!found_lists)
    return not_checked(kLists, "what was left out lay outside of the run folder and --root");
  TrialSet lists = std::move(*found_lists);
  if (is_anonymous(run)) lists = HashedNames(lists).of(lists);
  const Json& inputs = content.at("inputs");
  if (content.contains("limit") && content["limit"] != lists.limit)
    return {kLists, false, "run.json has a limit that leaves nothing out"};
  if (const std::string found = difference_of_trials(s.trials, lists); !found.empty())
    return {kLists, false, fmt::format("{}: {}", folder.string(), found)};
  for (const TrialList& list : lists.lists)
    if (std::ranges::find(inputs, Json{{"role", list.role}, {"sha256", list.sha256}}) ==
        inputs.end())
      return {kLists, false,
              fmt::format("run.json does not name {} among its inputs", list.path.string())};
  // Notes on folders also speak of what lies beside the images, and may come and go.
  const Json notes = content.value("notes", Json::array());
  if (!lists.lists.empty())
    for (const std::string& note : notes_of_lists(lists))
      if (std::ranges::find(notes, Json(note)) == notes.end())
        return {kLists, false, "run.json lacks a note: " + note};
  if (s.format >= kFormatWithContent && content.contains("blemishes") &&
      content["blemishes"] != blemishes_json(lists.blemishes))
    return {kLists, false, "run.json counts other blemishes than those of the lists"};
  return {kLists, true,
          fmt::format("read again from {}: the same people and comparisons{}", folder.string(),
                      stated_beside(notes, notes_of_lists(lists)))};
}

}  // namespace

bool is_anonymous(const Run& run) {
  return run.manifest.content.value("anonymous", Json()) == true;
}

std::optional<TrialSet> lists_of(const Run& run, const RunScores& scores, const fs::path& root) {
  const fs::path base = is_file(root) ? fs::absolute(root).parent_path() : root;
  const fs::path folder = folder_of_lists(run, scores, root, base);
  return folder.empty() ? std::nullopt : read_lists(run, scores, folder, base);
}

std::vector<Check> verify_inputs(const fs::path& folder, const fs::path& root, const Job& job) {
  const Run run = read_changed_run(folder);
  const Json& recorded = run.manifest.content.at("inputs");
  std::vector<Check> checks;
  // A root may be a file: an archive with its lists.
  const fs::path base = is_file(root) ? fs::absolute(root).parent_path() : root;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const std::string role = text_at(recorded[i], "/role");
    const std::string name = "input " + (role.empty() ? "?" : role);
    const fs::path path = input_path(run, i, base);
    if (path.empty() && is_anonymous(run))
      checks.push_back(not_checked(name, "its path was left out (--anonymous)"));
    else if (path.empty())
      checks.push_back({name, false, "run.json does not say where it lay"});
    else if (!may_open(path, {folder, base}))
      checks.push_back({name, false,
                        fmt::format("not read: under --untrusted only the run folder and --root "
                                    "are, and it lay at {}",
                                    path.string())});
    else
      checks.push_back(compare_hash(name, path, text_at(recorded[i], "/sha256"), job));
  }
  try {
    checks.push_back(check_lists(run, read_scores(folder / "scores.h5"), root, base));
  } catch (const std::logic_error& e) {
    checks.push_back({kLists, false, e.what()});
  } catch (const Error& e) {
    checks.push_back({kLists, false, e.what()});
  }
  return checks;
}

}  // namespace facebench
