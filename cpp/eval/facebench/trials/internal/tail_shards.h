#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "facebench/metrics/all_pairs.h"

namespace facebench {

// What one process of several found of a track of which a tail is kept.
struct TailShard {
  std::string track;
  std::string sha256;  // ManyPairs::sha256()
  AllPairsShard pairs;
};

// One file for all such tracks of an evaluation.
void write_tail_shards(const std::filesystem::path& path, const std::vector<TailShard>& shards);
// Throws Error, with the path, for a file that is none.
std::vector<TailShard> read_tail_shards(const std::filesystem::path& path);

}  // namespace facebench
