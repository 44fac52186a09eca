#pragma once

#include <cstdint>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/metrics/embedding_rows.h"

namespace facebench {

struct SimilarPair {
  std::int32_t row = 0, column = 0;
  double score = 0;

  friend bool operator==(const SimilarPair&, const SimilarPair&) = default;
};

// Every pair of a row and a column whose cosine (embedding_rows.h) is at or above `threshold`, in
// descending order of score, then by row and column. All pairs are looked at as all_pairs() does:
// in low precision first, with a proven margin, so that none is lost. Throws std::invalid_argument
// for dimensions that differ, Error for an embedding without direction and where more than 2e7
// pairs are found.
std::vector<SimilarPair> similar_pairs(const EmbeddingRows& rows, const EmbeddingRows& columns,
                                       double threshold, const Job& job = {});

}  // namespace facebench
