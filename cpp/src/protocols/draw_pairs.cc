#include "protocols/draw_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "facebench/core/error.h"

namespace facebench {
namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;

Pair ordered(std::int32_t a, std::int32_t b) { return {std::min(a, b), std::max(a, b)}; }

// Samples in the order of their yaw. For each the partners behind it whose yaw is larger by from
// to below: a run [begin, end) of the order, since the difference grows along it.
struct Partners {
  std::vector<std::int32_t> order;
  std::vector<std::int64_t> begin, sum;  // sum: of the runs' lengths, size() + 1
};

Partners partners(std::vector<std::int32_t> order, std::span<const double> yaw, double from,
                  double below) {
  std::ranges::sort(order, [&](std::int32_t a, std::int32_t b) {
    return std::pair(yaw[a], a) < std::pair(yaw[b], b);
  });
  Partners p;
  const auto n = static_cast<std::int64_t>(order.size());
  std::int64_t begin = 0, end = 0;
  p.sum.push_back(0);
  for (std::int64_t i = 0; i < n; ++i) {
    const double mine = yaw[order[i]];
    begin = std::max(begin, i + 1);
    while (begin < n && yaw[order[begin]] - mine < from) ++begin;
    end = std::max(end, begin);
    while (end < n && yaw[order[end]] - mine < below) ++end;
    p.begin.push_back(begin);
    p.sum.push_back(p.sum.back() + end - begin);
  }
  p.order = std::move(order);
  return p;
}

// Pair number `rank` of those that the partners make.
Pair pair_at(const Partners& p, std::int64_t rank) {
  const auto i = std::upper_bound(p.sum.begin(), p.sum.end(), rank) - p.sum.begin() - 1;
  return ordered(p.order[i], p.order[p.begin[i] + rank - p.sum[i]]);
}

// `count` different numbers below `all`. Source: Floyd's algorithm, in Bentley and Floyd, "A sample
// of brilliance", CACM 1987.
std::vector<std::int64_t> sample_ranks(std::int64_t count, std::int64_t all, Random& random) {
  std::unordered_set<std::int64_t> taken;
  for (std::int64_t k = all - count; k < all; ++k) {
    const auto r = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(k) + 1));
    if (!taken.insert(r).second) taken.insert(k);
  }
  return {taken.begin(), taken.end()};
}

}  // namespace

std::vector<Pair> draw_pairs(std::span<const std::int32_t> person, std::span<const double> yaw,
                             double from, double below, bool genuine, std::int64_t count,
                             Random& random, const std::string& where) {
  std::vector<std::int32_t> all(person.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::vector<std::int32_t>> of_person;
  for (const std::int32_t s : all) {
    const auto p = static_cast<std::size_t>(person[s]);
    if (p >= of_person.size()) of_person.resize(p + 1);
    of_person[p].push_back(s);
  }
  std::vector<Partners> same;  // one a person
  std::vector<std::int64_t> sum{0};
  for (std::vector<std::int32_t>& mine : of_person) {
    same.push_back(partners(std::move(mine), yaw, from, below));
    sum.push_back(sum.back() + same.back().sum.back());
  }
  const auto refuse_fewer = [&](std::int64_t there) {
    if (there < count)
      fail(where,
           fmt::format("{} {} pairs are asked for, and the faces give {}", count,
                       genuine ? "genuine" : "impostor", there),
           "Ask for fewer, or use more of the data set's files.");
  };

  std::vector<Pair> result;
  if (genuine) {
    refuse_fewer(sum.back());
    for (const std::int64_t rank : sample_ranks(count, sum.back(), random)) {
      const auto p = std::upper_bound(sum.begin(), sum.end(), rank) - sum.begin() - 1;
      result.push_back(pair_at(same[p], rank - sum[p]));
    }
  } else {
    const Partners every = partners(all, yaw, from, below);
    const std::int64_t there = every.sum.back() - sum.back();
    refuse_fewer(there);
    if (there / 2 < count) {  // so many that drawing would mostly repeat: all of them, then a part
      for (std::int64_t rank = 0; rank < every.sum.back(); ++rank)
        if (const Pair p = pair_at(every, rank); person[p.first] != person[p.second])
          result.push_back(p);
      shuffle(result, random);
      result.resize(static_cast<std::size_t>(count));
    } else {
      std::unordered_set<std::int64_t> taken;
      while (static_cast<std::int64_t>(result.size()) < count) {
        const auto rank =
            static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(every.sum.back())));
        const Pair p = pair_at(every, rank);
        if (person[p.first] != person[p.second] && taken.insert(rank).second) result.push_back(p);
      }
    }
  }
  std::ranges::sort(result);
  return result;
}

}  // namespace facebench
