#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/evaluation/curves.h"
#include "facebench/evaluation/evaluation_options.h"
#include "facebench/evaluation/number.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/json.h"
#include "facebench/io/sample_status.h"
#include "facebench/trials/scores.h"
#include "facebench/trials/trials.h"

// What an evaluation gives.
namespace facebench {

// A sample that could not be enrolled.
struct FailedSample {
  std::string name;
  SampleStatus status = SampleStatus::ok;
};

// The numbers of one track.
struct TrackResult {
  std::string name;
  std::string kind;  // trial_kinds(), or "summary": mean over the tracks before it
  // Of the comparisons that were measured; `dropped` ones are not among them.
  std::int64_t comparisons = 0;
  std::int64_t genuine = 0;
  std::int64_t impostor = 0;
  std::int64_t dropped = 0;
  std::int64_t failed_comparisons = 0;  // with a failed side, measured or dropped
  std::int64_t templates = 0;           // distinct templates that the track compares, 0 without
  std::int64_t samples = 0;             // distinct samples behind its units
  std::int64_t identities = 0;
  std::vector<FailedSample> failed;    // units, in order of first appearance
  std::vector<FailedSample> left_out;  // samples that failed in templates that did not
  // What this kind of track has beside: {"folds", 10}, {"gallery", 112}; see Trials::counts().
  std::vector<std::pair<std::string, std::int64_t>> more_counts;
  std::vector<Number> numbers;

  // The share of the units compared by the track (templates if there are any, else samples) that
  // failed to enrol; 0 without units.
  double failure_to_enrol_rate() const;
  // Throws std::invalid_argument with "did you mean".
  const Number& number(std::string_view name) const;
};

// A file that decides the numbers. `sha256` is of its bytes.
struct RunInput {
  std::string role;  // "pairs", "embeddings"
  std::filesystem::path path;
  std::string sha256;
};

// Trials with their scores: all that numbers are computed from.
struct ScoredTrials {
  ProtocolSpec spec;
  EvaluationOptions options;  // resolved: everything is set
  TrialSet trials;
  std::vector<SampleStatus> status;  // per sample of the trials
  std::vector<Scores> scores;        // per track
  std::string score;                 // "cosine", "given"; empty where an old run does not say it
};

// A result with everything that a run folder needs.
struct Result : ScoredTrials {
  std::vector<TrackResult> tracks;
  std::vector<TrackCurves> curves;    // per track of the trials
  std::vector<RunInput> inputs;       // the lists; callers add what else they read
  std::vector<std::string> notes;     // about the lists, one sentence each
  std::vector<std::string> warnings;  // what to know before the numbers; see warnings.h
  Json backend;  // spec, hashes and training sets of the back end; null where there was none
  Json embeddings = Json::object();  // hash and manifest of the embeddings, where there were any

  // Throws std::invalid_argument with "did you mean".
  const TrackResult& track(std::string_view name) const;
};

}  // namespace facebench
