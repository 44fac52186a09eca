#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/registry.h"
#include "facebench/io/embeddings.h"
#include "facebench/protocols/trials.h"

namespace facebench {

// How the names in a list find the names of embeddings: "exact", or "stem" (file name without
// folder and last extension, for data sets whose lists and files differ in folder or extension).
struct NameMatching {
  std::string name;
  std::string doc;
};
const Table<NameMatching>& name_matchings();

// For each of `wanted` the index in `known`, or -1 where it has none. Throws Error for an ambiguous
// name (two of `known` answer to one of `wanted`, or two of `wanted` to the same stem), and where
// not a single one is found.
std::vector<std::int64_t> match_names(std::span<const std::string> wanted,
                                      std::span<const std::string> known,
                                      std::string_view matching);

// The status of each sample of the trials, and the row of the embeddings that holds it (-1 where
// the status is not ok). A sample without a row is `missing`.
struct SampleRows {
  std::vector<std::int64_t> row;
  std::vector<SampleStatus> status;
};
SampleRows find_samples(const TrialSet& trials, const EmbeddingSet& embeddings,
                        std::string_view matching);

// Cosine similarity of the two embeddings of each comparison, in [-1, 1]; products of float32
// values summed in double, in one order, whatever the number of threads. A comparison with a failed
// side gets failed_score(). Throws Error for an embedding of status ok that holds a value that is
// not finite, or that is zero, and so has no direction.
std::vector<double> cosine_scores(const Track& track, const SampleRows& samples,
                                  const EmbeddingSet& embeddings, const Job& job = {});

// The score of a comparison with a failed side: -1, the lowest cosine, or the lowest of `scores`
// (those of the comparisons that did not fail, all finite) where that is lower still.
double failed_score(std::span<const double> scores);

}  // namespace facebench
