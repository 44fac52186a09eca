#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/shard.h"
#include "facebench/evaluation/evaluation_options.h"
#include "facebench/evaluation/result.h"
#include "facebench/io/embeddings.h"

namespace facebench {

// Cosine similarities of embeddings under the protocol of the trials. Samples without an embedding
// are `missing`, where the options allow it. Throws std::invalid_argument for trials that know no
// protocol, Error for embeddings that do not belong to the lists, lack some of their names or hold
// bad numbers, for a metric that a track cannot have (accuracy without folds; one class empty), and
// with `strict` for any failed enrolment. The same numbers for any number of threads.
Result evaluate(TrialSet trials, const EmbeddingSet& embeddings,
                const EvaluationOptions& options = {}, const Job& job = {});
// The same; the values are freed as soon as the units are made, before the comparisons. Tails are
// taken out of the files `tail_shards` of write_tail_shard(), where there are any.
Result evaluate(TrialSet trials, EmbeddingSet&& embeddings, const EvaluationOptions& options = {},
                const Job& job = {}, std::span<const std::filesystem::path> tail_shards = {});

// evaluate() shared out among processes: of each track of which a tail is kept (see
// `stored_scores`) one writes what its shard of the comparisons gives, a file of `out`; with the
// files of all shards the result is that of one process, to the bit. Both throw as evaluate() and
// as all_pairs_shard() and merge_all_pairs() do, and Error where no track keeps a tail and for a
// file of other embeddings, lists or options.
void write_tail_shard(TrialSet trials, EmbeddingSet&& embeddings, const Shard& shard,
                      const std::filesystem::path& out, const EvaluationOptions& options = {},
                      const Job& job = {});

// Scores from anywhere (higher = more alike), one a comparison, tracks one behind the other in the
// order of the lists; of a track that is not a list all that its shape has (Trials::shape), row by
// row. `status` is per sample, empty = all ok; the score of a comparison with a failed side is
// ignored, and so is that of a pair that is not compared. Throws Error for another number of scores
// and, naming the row, for one that is not finite.
Result evaluate_scores(TrialSet trials, std::span<const double> scores,
                       std::span<const SampleStatus> status = {},
                       const EvaluationOptions& options = {}, const Job& job = {});

// What run.json says of the embeddings that were evaluated: their number and dimension, their
// manifest, and a hash of names, status and values.
Json embeddings_json(const EmbeddingSet& embeddings);

// What the lists alone make a result say (the first of its `notes`): what is odd in them, and how
// they differ from the official ones. The trials know their protocol.
std::vector<std::string> notes_of_lists(const TrialSet& trials);

// The scores in a CSV file: column `score`, one row a score, in the order of evaluate_scores();
// columns `first` and `second`, where they exist, must be the names of the units. Throws Error
// with file and line.
std::vector<double> read_scores_csv(const std::filesystem::path& path, const TrialSet& trials);

// What scores give. What evaluate() and verification share: intervals and bands come from one
// bootstrap of each track.
struct MeasuredRun {
  std::vector<TrackResult> tracks;
  std::vector<TrackCurves> curves;  // per track of the trials
};
MeasuredRun measure_run(const ScoredTrials& scored, const Job& job = {});
// The numbers alone.
std::vector<TrackResult> measure_tracks(const ScoredTrials& scored, const Job& job = {});
// The same by the metrics of another protocol, under other options (resolved).
std::vector<TrackResult> measure_tracks(const ScoredTrials& scored, const ProtocolSpec& metrics,
                                        const EvaluationOptions& options, const Job& job = {});

// `options` with the protocol's words where they are unset. Throws std::invalid_argument for
// unknown words.
EvaluationOptions resolve_options(const ProtocolSpec& spec, const EvaluationOptions& options);
// The options as the manifest and scores.h5 have them.
Json options_of_manifest(const EvaluationOptions& options);
// The units whose comparisons are left out (1 per unit; empty = none is): those that failed, where
// the options leave them out. `options` resolved, `status` per sample.
std::vector<std::uint8_t> left_out_units(const EvaluationOptions& options, const TrialSet& trials,
                                         std::span<const SampleStatus> status);

// The counts behind a number, as they stand in metrics.json (see docs/evaluation.md); what is
// undefined is null there.
Json counts_json(const Number& number);
// The content of metrics.json.
Json metrics_json(const Result& result);
Json metrics_json(const ScoredTrials& scored, std::span<const TrackResult> tracks);

}  // namespace facebench
