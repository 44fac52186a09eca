#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "facebench/evaluation/evaluate.h"
#include "facebench/io/manifest.h"

namespace facebench {

// A run folder holds the result of an evaluation: run.json (the manifest), scores.h5 (the raw
// scores and all that is needed to compute the numbers from them again), metrics.json and
// curves.json (curves.h), which earlier runs do not have. Equal content gives equal bytes in all
// but the "circumstance" of run.json.

// What is known about a run beside its result.
struct RunInfo {
  std::string command;                 // as typed, may be empty
  int threads = 0;                     // of the job
  std::filesystem::path root;          // of the data set, may be empty
  bool anonymous = false;              // neither paths nor the machine's name are written
  Json content = Json::object();       // further keys of the manifest's content
  Json circumstance = Json::object();  // and of its circumstance
};

// Writes the four files into an existing folder. To write a folder that appears only when it is
// complete, use save_run() of the reports floor.
void write_run_files(const std::filesystem::path& folder, const Result& result,
                     const RunInfo& info = {});

// Whether the folder holds a run.json that we wrote. Never throws.
bool is_run_folder(const std::filesystem::path& folder);

// What a run folder is called, however its path is spelled ("runs/lfw/", ".").
std::string run_name(const std::filesystem::path& folder);

struct Run {
  std::filesystem::path folder;
  Manifest manifest;
  Json metrics;
  bool without_intervals = false;  // they follow another rule than today's, and were left out
};
// Throws Error where it is not a run folder, its files cannot be read, or the manifest's content,
// metrics.json, curves.json or scores.h5 (which may be absent) is not what the run wrote, by the
// hashes in run.json; and where run.json lacks its content's hash, unless scores.h5 is of a format
// (before 5) that was written without one. Intervals that follow another rule than today's are left
// out of `metrics`, with the reason: they stand beside others, whose rule they would be taken for.
Run read_run(const std::filesystem::path& folder, const Job& job = {});
// The same as it is written, without comparing hashes: for who looks for what was changed.
Run read_changed_run(const std::filesystem::path& folder);

// What is plotted of each track: curves.json, or, of a run that has none, computed from its scores.
std::vector<TrackCurves> read_curves(const Run& run, const Job& job = {});

// scores.h5: `/manifest` (format, names of the tracks in order, the protocol's text, options),
// `/content` (that of run.json, less the hashes of the two other files),
// `/sample/{name,status,identity}`, `/identity`, with templates
// `/template/{name,identity,begin,sample,medium}`, and for each track `/tracks/NAME/kind`, `score`
// in the shape of the kind, and the trials (`first`, `second`, ... for a list; `rows`, `columns`,
// `triangle`, `mask`; `groups`, `first`, `second`; `gallery`, `probes`).
struct RunScores : ScoredTrials {
  std::int64_t format = 0;
  Json content;  // of the manifest; null in files before format 5
};
// From this format on scores.h5 holds the content, and run.json its hash.
inline constexpr std::int64_t kFormatWithContent = 5;
// Throws Error for anything that is not as write_run_files() wrote it.
RunScores read_scores(const std::filesystem::path& path);

// The scores of a run folder, which have to be those that its run.json names: another SHA-256, a
// run.json whose content was changed, or a scores.h5 that is written meanwhile, is an Error.
RunScores read_run_scores(const std::filesystem::path& folder, const Job& job = {});

struct WholeRun {
  Run run;
  RunScores scores;
};
// Both, of the same evaluation: Error as of each, and where scores.h5 is written meanwhile.
WholeRun read_whole_run(const std::filesystem::path& folder, const Job& job = {});

// The result that a run folder holds, as evaluate() gave it but for the blemishes of the lists: the
// numbers are computed again from the scores. Throws Error as read_whole_run() does.
Result read_result(const std::filesystem::path& folder, const Job& job = {});

// Counts the changes of what the intervals are of the same scores; in the manifest's content, since
// 2. 2: at rates near 0 and 1, and an AUC near 1. 3: few errors say no more than their people do,
// and thresholds and similarities of cosines stay within -1 and 1 (docs/metrics.md).
inline constexpr std::int64_t kIntervalRules = 3;
inline constexpr const char* kIntervalRulesSince = "0.1.0";  // the version of facebench
// The rule that a manifest's content says its intervals follow: 1 where it says none, 0 where what
// it says is not a rule.
std::int64_t interval_rules_of(const Json& content);

// The part of a manifest's content that follows from the scores: kind, protocol, options, tracks.
Json content_of_scores(const ScoredTrials& scored, std::span<const TrackResult> tracks);

}  // namespace facebench
