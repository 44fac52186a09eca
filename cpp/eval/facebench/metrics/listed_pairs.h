#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/metrics/embedding_rows.h"

namespace facebench {

// The cosine (embedding_rows.h) of each listed pair: row first[i] of `rows` with row second[i] of
// `columns`, which may be the same set. Throws std::invalid_argument for lists of different lengths
// or dimensions that differ, std::out_of_range, naming the pair, for an index that points nowhere,
// and Error, naming the pair, for an embedding without direction (zero or not finite). The same
// bits for any number of threads.
std::vector<double> listed_pair_scores(const EmbeddingRows& rows, const EmbeddingRows& columns,
                                       std::span<const std::int32_t> first,
                                       std::span<const std::int32_t> second, const Job& job = {});
// The same into `scores`, one a pair.
void listed_pair_scores(const EmbeddingRows& rows, const EmbeddingRows& columns,
                        std::span<const std::int32_t> first, std::span<const std::int32_t> second,
                        std::span<double> scores, const Job& job = {});

// The cosine of every row with every column, rounded once to float32: rows.size() x columns.size()
// values, row by row. For comparisons few enough to keep; beyond, all_pairs.h. Throws
// std::invalid_argument for dimensions that differ and Error for an embedding without direction.
std::vector<float> dense_scores(const EmbeddingRows& rows, const EmbeddingRows& columns,
                                const Job& job = {});
// The same into `scores`, in double without rounding where they are double.
void dense_scores(const EmbeddingRows& rows, const EmbeddingRows& columns, std::span<float> scores,
                  const Job& job = {});
void dense_scores(const EmbeddingRows& rows, const EmbeddingRows& columns, std::span<double> scores,
                  const Job& job = {});

}  // namespace facebench
