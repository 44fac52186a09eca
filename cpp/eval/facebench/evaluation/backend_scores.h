#pragma once

#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/evaluation/result.h"
#include "facebench/io/embeddings.h"
#include "facebench/trials/scoring.h"

namespace facebench {

// The scores of trials by a back end (EvaluationOptions::backend and the fields behind it).
struct BackendScores {
  std::vector<Scores> scores;  // per track
  std::string score;           // "cosine", "plda", "s-norm:top=200"
  Json content;                // of the manifest: what was fitted to what, with hashes
  std::vector<std::string> notes, warnings;
  std::vector<RunInput> inputs;  // roles "backend", "train", "cohort"
};

// `scored` has protocol, resolved options and trials; `units` are made of `embeddings`; `storage`
// is one a track. Where neither a file nor a training set is given, each fold of each track has a
// back end of its own, fitted to the images that the other folds name without anyone who takes part
// in the fold. The same bits for any number of threads and instruction set.
//
// Throws std::invalid_argument for options that do not go together, and for what does not go with
// the trials (no folds and no training set; templates and a chain that does not begin with `unit`;
// scores of which a tail is kept), and Error for files that are not to be read, of other dimensions
// or another model, and for a training set or cohort that holds people who are tested.
BackendScores backend_scores(const ScoredTrials& scored, const EmbeddingSet& embeddings,
                             const UnitEmbeddings& units, std::span<const Storage> storage,
                             const Job& job = {});

}  // namespace facebench
