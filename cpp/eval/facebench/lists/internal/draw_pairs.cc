#include "facebench/lists/internal/draw_pairs.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_set>

namespace facebench {
namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;

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

YawPairs::Partners YawPairs::partners(std::vector<std::int32_t> order, std::span<const double> yaw,
                                      double from, double below) {
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

Pair YawPairs::pair_at(const Partners& p, std::int64_t rank) {
  const auto i = std::upper_bound(p.sum.begin(), p.sum.end(), rank) - p.sum.begin() - 1;
  return std::minmax(p.order[i], p.order[p.begin[i] + rank - p.sum[i]]);
}

YawPairs::YawPairs(std::span<const std::int32_t> person, std::span<const double> yaw, double from,
                   double below)
    : person_(person.begin(), person.end()), same_sum_{0} {
  std::vector<std::int32_t> all(person.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::vector<std::int32_t>> of_person;
  for (const std::int32_t s : all) {
    const auto p = static_cast<std::size_t>(person[s]);
    if (p >= of_person.size()) of_person.resize(p + 1);
    of_person[p].push_back(s);
  }
  every_ = partners(std::move(all), yaw, from, below);
  for (std::vector<std::int32_t>& mine : of_person) {
    same_.push_back(partners(std::move(mine), yaw, from, below));
    same_sum_.push_back(same_sum_.back() + same_.back().sum.back());
  }
}

std::int64_t YawPairs::count(bool genuine) const {
  return genuine ? same_sum_.back() : every_.sum.back() - same_sum_.back();
}

std::vector<Pair> YawPairs::draw(bool genuine, std::int64_t wanted, Random& random) const {
  if (wanted < 0 || wanted > count(genuine))
    throw std::invalid_argument("more pairs to draw than there are");
  std::vector<Pair> result;
  const auto impostors = [&](const Pair& p) { return person_[p.first] != person_[p.second]; };
  if (genuine) {
    for (const std::int64_t rank : sample_ranks(wanted, same_sum_.back(), random)) {
      const auto p =
          std::upper_bound(same_sum_.begin(), same_sum_.end(), rank) - same_sum_.begin() - 1;
      result.push_back(pair_at(same_[p], rank - same_sum_[p]));
    }
  } else if (count(false) / 2 < wanted) {
    // So many that drawing would mostly repeat: all of them, then a part.
    for (std::int64_t rank = 0; rank < every_.sum.back(); ++rank)
      if (const Pair p = pair_at(every_, rank); impostors(p)) result.push_back(p);
    shuffle(result, random);
    result.resize(static_cast<std::size_t>(wanted));
  } else {
    std::unordered_set<std::int64_t> taken;
    while (static_cast<std::int64_t>(result.size()) < wanted) {
      const auto rank =
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(every_.sum.back())));
      const Pair p = pair_at(every_, rank);
      if (impostors(p) && taken.insert(rank).second) result.push_back(p);
    }
  }
  std::ranges::sort(result);
  return result;
}

}  // namespace facebench
