#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "facebench/io/manifest.h"
#include "facebench/protocols/evaluate.h"

namespace facebench {

// A run folder holds the result of an evaluation: run.json (the manifest), scores.h5 (the raw
// scores and all that is needed to compute the numbers from them again), metrics.json; reports add
// their files. Equal content gives equal bytes in all but the "circumstance" of run.json.

// What is known about a run beside its result.
struct RunInfo {
  std::string command;                 // as typed, may be empty
  int threads = 0;                     // of the job
  std::filesystem::path root;          // of the data set, may be empty
  Json content = Json::object();       // further keys of the manifest's content
  Json circumstance = Json::object();  // and of its circumstance
};

// Writes the three files into an existing folder. To write a folder that appears only when it is
// complete, use save_run() of the reports floor.
void write_run_files(const std::filesystem::path& folder, const EvaluationResult& result,
                     const RunInfo& info = {});

// Whether the folder holds a run.json that we wrote. Never throws.
bool is_run_folder(const std::filesystem::path& folder);

struct Run {
  std::filesystem::path folder;
  Manifest manifest;
  Json metrics;
};
// Throws Error where it is not a run folder or its files cannot be read.
Run read_run(const std::filesystem::path& folder);

// scores.h5: `/manifest` (format, names of the tracks in order, the protocol's text, options),
// `/sample/{name,status,identity}`, `/identity`, with templates
// `/template/{name,identity,begin,sample,medium}`, and for each track `/tracks/NAME/kind`, `score`
// in the shape of the kind, and the trials (`first`, `second`, ... for a list; `rows`, `columns`,
// `triangle`, `mask`; `groups`, `first`, `second`; `gallery`, `probes`).
struct RunScores {
  ProtocolSpec spec;
  EvaluationOptions options;  // resolved
  TrialSet trials;
  std::vector<SampleStatus> status;
  std::vector<KeptScores> scores;  // per track
};
// Throws Error for anything that is not as write_run_files() wrote it.
RunScores read_scores(const std::filesystem::path& path);

}  // namespace facebench
