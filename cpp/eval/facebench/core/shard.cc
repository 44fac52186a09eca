#include "facebench/core/shard.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <set>
#include <stdexcept>

namespace facebench {
namespace {

constexpr int kMostShards = 1'000'000;

}  // namespace

void check_shard(const Shard& shard) {
  if (shard.count < 1 || shard.count > kMostShards || shard.number < 1 ||
      shard.number > shard.count)
    throw std::invalid_argument(
        fmt::format("shard {}/{}: expected NUMBER/COUNT, as 3/16, a number from 1 to the count, at "
                    "most {}",
                    shard.number, shard.count, kMostShards));
}

Shard parse_shard(std::string_view text) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, shard.number);
  const bool parted = number.ec == std::errc() && number.ptr != end && *number.ptr == '/';
  const auto count = parted ? std::from_chars(number.ptr + 1, end, shard.count) : number;
  if (!parted || count.ec != std::errc() || count.ptr != end)
    throw std::invalid_argument(
        fmt::format("shard '{}': expected NUMBER/COUNT, as 3/16", text.substr(0, 40)));
  check_shard(shard);
  return shard;
}

std::pair<std::int64_t, std::int64_t> range_of(const Shard& shard, std::int64_t things) {
  // Of the product, which may not fit, quotient and remainder apart.
  const auto begin = [&](std::int64_t number) {
    return things / shard.count * number + things % shard.count * number / shard.count;
  };
  return {begin(shard.number - 1), begin(shard.number)};
}

void check_all_shards(std::span<const Shard> shards) {
  if (shards.empty()) throw std::invalid_argument("no shards to merge");
  const int count = shards[0].count;
  std::set<int> there, missing;
  for (const Shard& shard : shards) {
    check_shard(shard);
    if (shard.count != count)
      throw std::invalid_argument(fmt::format(
          "shards of different wholes: one of {} shards, one of {}", count, shard.count));
    if (!there.insert(shard.number).second)
      throw std::invalid_argument(
          fmt::format("shard {} of {} is there twice", shard.number, count));
  }
  for (int number = 1; number <= count; ++number)
    if (!there.contains(number)) missing.insert(number);
  if (!missing.empty())
    throw std::invalid_argument(
        fmt::format("shards are missing: {} of {}", fmt::join(missing, ", "), count));
}

}  // namespace facebench
