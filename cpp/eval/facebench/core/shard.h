#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace facebench {

// A part of something that several processes share out: the `number`th (from 1) of `count`.
struct Shard {
  int number = 1;
  int count = 1;
};

// Throws std::invalid_argument for a shard that is none: another number, more than a million.
void check_shard(const Shard& shard);

// "3/16" as {3, 16}. Throws as check_shard().
Shard parse_shard(std::string_view text);

// Which of so many things are this shard's: [first, second), as many as of every other, or one
// fewer.
std::pair<std::int64_t, std::int64_t> range_of(const Shard& shard, std::int64_t things);

// Throws std::invalid_argument, which names the shards, unless these are all of one whole, each
// once, in any order.
void check_all_shards(std::span<const Shard> shards);

}  // namespace facebench
