#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "facebench/core/job.h"

namespace facebench {

// The result of one check.
struct Check {
  std::string name;  // "scores.h5", "metrics.json", "input pairs"
  bool same = false;
  std::string detail;  // what was compared, or how it differs
};

// The files of the run against the hashes in run.json; metrics.json and curves.json (which older
// runs lack) computed again from scores.h5 and compared byte by byte; every value of the content of
// run.json against the copy in scores.h5, what the scores give, and its own hash (older runs have
// neither copy nor hash). Damage is a failed check, not an exception; throws Error only where
// run.json or metrics.json cannot be read at all. Where readers are confined (io/confine.h), a file
// that is a link out of the folder is an Error, and embeddings are read from the folder alone.
std::vector<Check> verify_scores(const std::filesystem::path& run, const Job& job = {});

// The SHA-256 of every input that the manifest records, against the files as they are now: below
// `root` where it is given and the input lay below the root then, else where they were.
// Where readers are confined, what lies in neither the run folder nor `root` is not opened, and is
// a failed check.
std::vector<Check> verify_inputs(const std::filesystem::path& run,
                                 const std::filesystem::path& root = {}, const Job& job = {});

bool all_same(const std::vector<Check>& checks);

}  // namespace facebench
