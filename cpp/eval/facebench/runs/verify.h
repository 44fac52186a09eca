#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/runs/run_folder.h"
#include "facebench/trials/trials.h"

namespace facebench {

// The result of one check.
struct Check {
  std::string name;  // "scores.h5", "metrics.json", "input pairs"
  bool same = false;
  std::string detail;   // what was compared, or how it differs, or why it was not compared
  bool checked = true;  // false: nothing could be compared, so that it is not called the same

  // No value where nothing was compared.
  std::optional<bool> outcome() const { return checked ? std::optional(same) : std::nullopt; }
};

// What follows from the files of the run itself: each against its hash in run.json; metrics.json
// and curves.json computed again from scores.h5 and compared byte by byte; the content of run.json
// against the copy in scores.h5, what the scores give, and its own hash; the protocol against the
// one that facebench has under that id or title; and the scores computed again from the embeddings.
// What cannot be checked (a file that is not there, what a run of an earlier format does not hold)
// is a check that was not made. Damage is a failed check, not an exception; throws Error only where
// run.json or metrics.json cannot be read at all. Where readers are confined (io/confine.h), a file
// that is a link out of the folder is an Error, and embeddings are read from the folder alone.
std::vector<Check> verify_scores(const std::filesystem::path& run, const Job& job = {});

// The SHA-256 of every input that the manifest records, against the files as they are now: below
// `root` where it is given and the input lay below the root then, else where they were. Then the
// lists are read again: people, samples, comparisons and folds against those in scores.h5, notes
// and inputs against those of run.json. Where readers are confined, what lies in neither the run
// folder nor `root` is not opened, and is a failed check.
std::vector<Check> verify_inputs(const std::filesystem::path& run,
                                 const std::filesystem::path& root = {}, const Job& job = {});

// Whether names of a run are hashes (run --anonymous).
bool is_anonymous(const Run& run);

// The lists of a run read again, with their names, cut as those of the run; none where they are not
// there or may not be read. Throws Error for lists that are damaged.
std::optional<TrialSet> lists_of(const Run& run, const RunScores& scores,
                                 const std::filesystem::path& root);

// Whether no check found a difference; some may not have been made.
bool all_same(const std::vector<Check>& checks);

}  // namespace facebench
