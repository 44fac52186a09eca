#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "facebench/core/shard.h"
#include "facebench/embedding/extractor.h"

namespace facebench {

// extract() of a shard: of neighbouring rows. Shards are of about as many faces, in whole batches,
// so that merge_shards() of all gives the bytes of extract() for every model. The manifest says
// which rows of how many these are. Throws as extract(), and std::invalid_argument for a shard that
// is none.
EmbeddingSet extract_shard(const BatchModel& model, const ImageSource& images, const Shard& shard,
                           const ExtractOptions& options = {}, const Job& job = {});
EmbeddingSet extract_shard(const Model& model, const ImageSource& images, const Shard& shard,
                           const ExtractOptions& options = {}, const Job& job = {});

// All shards of a source, in any order, as one set. Throws std::invalid_argument, which names the
// shards, where one is missing or there twice, or where they were computed by different models,
// options or versions, or are of different sources.
EmbeddingSet merge_shards(std::vector<EmbeddingSet> shards);

// What a merge wrote.
struct MergedShards {
  std::int64_t rows = 0, dim = 0;
};
// The files of all shards, in any order, as one file: the bytes of write_embeddings() of
// merge_shards(). One shard's names and some rows are in memory at a time, and eight bytes of each
// row of the whole. Throws as merge_shards() and read_embeddings().
MergedShards merge_shard_files(std::span<const std::filesystem::path> shards,
                               const std::filesystem::path& out, const Job& job = {});

}  // namespace facebench
