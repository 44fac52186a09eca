#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/core/shard.h"
#include "facebench/metrics/embedding_rows.h"
#include "facebench/metrics/score_tail.h"

namespace facebench {

struct AllPairsOptions {
  double far = 1e-3;
  std::int64_t bins = 0;
  static void describe(OptionsBuilder<AllPairsOptions>& o);
};

// Scores every row with every column by cosine (embedding_rows.h), without storing the scores; a
// comparison is genuine where the two identities are equal. The result is that of scoring
// everything in double and sorting, except for the lower bins of the histogram: a pass in low
// precision (bfloat16 or float32, tiles on all threads) finds the pairs that may belong to the
// tail, and those alone are scored in double. No pair is lost, because the error of low precision
// is bounded: with x~ the rounded unit vector x, |x.y - x~.y~| <= |x - x~| + |y - y~| + |x - x~||y
// - y~| (Cauchy-Schwarz; the distances are measured while rounding), and the float32 sum of n
// products is off by at most n u / (1 - n u) |x~||y~|, u = 2^-24 (Higham, "Accuracy and stability
// of numerical algorithms", section 3.1).
//
// Memory beside the embeddings: a rounded copy of the smaller side, 32 bytes for each genuine
// comparison and 40 for each kept impostor score. Throws std::invalid_argument for dimensions that
// differ, different numbers of identities and embeddings, no comparison at all, and a `far` whose
// tail would hold more than 2e7 scores; Error for an embedding without direction and for more than
// 5e7 genuine comparisons. The same result on every processor, for any number of threads (the
// histogram's lower bins depend on the instruction set).
ScoreTail all_pairs(const EmbeddingRows& rows, std::span<const std::int32_t> row_identities,
                    const EmbeddingRows& columns, std::span<const std::int32_t> column_identities,
                    const AllPairsOptions& options = {}, const Job& job = {});
// Each unordered pair of different rows once.
ScoreTail all_pairs(const EmbeddingRows& rows, std::span<const std::int32_t> identities,
                    const AllPairsOptions& options = {}, const Job& job = {});

// What one process of several finds in its blocks of the matrix.
struct AllPairsShard {
  int number = 1, count = 1;  // Shard
  std::string isa;            // by which the blocks were cut
  std::int64_t wanted = 0;    // impostor scores of the tail of all
  double bound = 0;           // each higher impostor score of these blocks is in the tail
  // Genuine scores of this shard; impostor scores above the bound, all of them with row and column;
  // impostor_reach counts those at the bound too. impostor_count is that of all shards. Of the
  // histogram only the impostors that low precision counted, by bins.
  ScoreTail tail;
  bool operator==(const AllPairsShard&) const = default;
};

// all_pairs() of one shard: an equal part of the blocks and of the genuine comparisons. Memory and
// exceptions as of all_pairs().
AllPairsShard all_pairs_shard(const EmbeddingRows& rows,
                              std::span<const std::int32_t> row_identities,
                              const EmbeddingRows& columns,
                              std::span<const std::int32_t> column_identities, const Shard& shard,
                              const AllPairsOptions& options = {}, const Job& job = {});
AllPairsShard all_pairs_shard(const EmbeddingRows& rows, std::span<const std::int32_t> identities,
                              const Shard& shard, const AllPairsOptions& options = {},
                              const Job& job = {});
// The tail that all_pairs() gives in one process, of all shards in any order. Throws
// std::invalid_argument where one is missing, there twice or contradicts itself, or where they are
// of different embeddings, options or instruction sets; Error where the sample that gave all of
// them their bound was misleading (less often than once in a million).
ScoreTail merge_all_pairs(std::vector<AllPairsShard> shards);

}  // namespace facebench
