#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "facebench/io/json.h"
#include "facebench/runs/run_folder.h"
#include "facebench/runs/verify.h"

// What the parts of a verification share (verify.cc, verify_kept.cc, verify_inputs.cc).
namespace facebench {

// What could not be compared, and why.
inline Check not_checked(std::string name, std::string why) {
  return {std::move(name), false, std::move(why), false};
}

// The sentences of a run that are not among those that follow, for the detail of a check; empty
// where there is none. Nothing says that they are true.
std::string stated_beside(const Json& sentences, const std::vector<std::string>& follow);

// A file against its recorded SHA-256.
Check compare_hash(std::string name, const std::filesystem::path& path, const std::string& recorded,
                   const Job& job);

// The pack and the embeddings that a run may have kept: against their hashes, what run.json says of
// them against what they say, and their images against the samples of scores.h5.
void check_kept(std::vector<Check>& checks, const Run& run, const Job& job);
void check_kept_names(std::vector<Check>& checks, const Run& run, const RunScores& scores);

}  // namespace facebench
