#include "facebench/metrics/many_comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/internal/score_segments.h"

namespace facebench {
namespace {

constexpr std::int64_t kChunks = 16;  // of rows; fixed, so that the number of threads has no effect

enum Kind : std::uint8_t { none = 0, is_genuine = 1, is_impostor = 2 };

std::pair<std::size_t, std::size_t> part(std::size_t all, std::int64_t chunk) {
  return {all * static_cast<std::size_t>(chunk) / kChunks,
          all * static_cast<std::size_t>(chunk + 1) / kChunks};
}

// The comparisons of a chunk of rows: visit(position in scores, row, column, kind).
template <class Visit>
void for_each(const DenseScores& s, std::int64_t chunk, const Visit& visit) {
  const std::size_t columns = s.column_identity.size();
  const auto [begin, end] = part(s.row_identity.size(), chunk);
  for (std::size_t r = begin; r < end; ++r) {
    if (!s.row_left_out.empty() && s.row_left_out[r]) continue;
    for (std::size_t c = s.triangle ? r + 1 : 0; c < columns; ++c) {
      if (!s.column_left_out.empty() && s.column_left_out[c]) continue;
      const std::size_t k = r * columns + c;
      Kind kind = s.row_identity[r] == s.column_identity[c] ? is_genuine : is_impostor;
      if (!s.mask.empty()) kind = static_cast<Kind>(s.mask[k]);
      if (kind != none) visit(k, r, c, kind);
    }
  }
}

// Of a list the k-th comparison is of row k with column k.
template <class Visit>
void for_each(const ListedScores& s, std::int64_t chunk, const Visit& visit) {
  const auto [begin, end] = part(s.scores.size(), chunk);
  for (std::size_t k = begin; k < end; ++k) visit(k, k, k, s.labels[k] ? is_genuine : is_impostor);
}

template <class Scores, class Visit>
void for_all(const Scores& s, const Visit& visit) {
  for (std::int64_t chunk = 0; chunk < kChunks; ++chunk) for_each(s, chunk, visit);
}

void check(const DenseScores& s) {
  const std::size_t rows = s.row_identity.size(), columns = s.column_identity.size();
  const auto fits = [](std::size_t size, std::size_t expected) {
    return size == 0 || size == expected;
  };
  if (rows == 0 || columns == 0 || s.scores.size() != rows * columns ||
      !fits(s.mask.size(), rows * columns) || !fits(s.row_left_out.size(), rows) ||
      !fits(s.column_left_out.size(), columns))
    throw std::invalid_argument(
        fmt::format("dense comparisons: {} scores, {} mask entries for {} rows and {} columns",
                    s.scores.size(), s.mask.size(), rows, columns));
  if (s.triangle && !std::ranges::equal(s.row_identity, s.column_identity))
    throw std::invalid_argument("dense comparisons: a triangle whose columns are not its rows");
  for (std::size_t k = 0; k < s.mask.size(); ++k)
    if (s.mask[k] > is_impostor)
      throw std::invalid_argument(fmt::format("dense comparisons: mask [{}, {}] is {}", k / columns,
                                              k % columns, s.mask[k]));
}

void check(const ListedScores& s) {
  check_comparisons(s.scores, s.labels);
  if (s.first_identity.size() != s.scores.size() || s.second_identity.size() != s.scores.size())
    throw std::invalid_argument(fmt::format("{} scores for {} and {} identities", s.scores.size(),
                                            s.first_identity.size(), s.second_identity.size()));
}

}  // namespace

template <class Source>
void ManyComparisons::place(const Source& s, const Job& job) {
  Genuine genuine;
  for_all(s, [&](std::size_t k, std::size_t r, std::size_t, Kind kind) {
    if (kind == is_genuine) genuine.emplace_back(s.scores[k], row_number_[r]);
  });
  set_levels(std::move(genuine));
  known_levels_ = level_.size();
  if (identities_ <= kShortIds)
    pairs_ = place_impostors<std::uint16_t>(s, job);
  else
    pairs_ = place_impostors<std::uint32_t>(s, job);
  count_blocks();
  impostor_ = known_impostors();
  if (impostor_ == 0) throw std::invalid_argument("none of the comparisons is an impostor");
}

ManyComparisons::ManyComparisons(const DenseScores& s, const Job& job) {
  check(s);
  triangle_ = s.triangle;
  by_identity_ = s.mask.empty();
  const std::size_t rows = s.row_identity.size(), columns = s.column_identity.size();
  std::vector<std::uint8_t> row_used(rows, 0), column_used(columns, 0);
  for_all(s, [&](std::size_t k, std::size_t r, std::size_t c, Kind) {
    row_used[r] = column_used[c] = 1;
    if (!std::isfinite(s.scores[k]))
      throw std::invalid_argument(
          fmt::format("score [{}, {}] is {}, not a finite number", r, c, s.scores[k]));
  });
  // The last row of a triangle is compared as a column only, but it is one of the units.
  if (s.triangle)
    for (std::size_t i = 0; i < rows; ++i)
      row_used[i] = column_used[i] = row_used[i] | column_used[i];
  number_identities(s.row_identity, s.column_identity, row_used, column_used);
  place(s, job);
}

ManyComparisons::ManyComparisons(const ListedScores& s, const Job& job) {
  check(s);
  by_identity_ = false;
  listed_ = s.scores;
  const std::vector<std::uint8_t> used(s.scores.size(), 1);
  number_identities(s.first_identity, s.second_identity, used, used);
  place(s, job);
}

void ManyComparisons::number_identities(std::span<const std::int32_t> row_identity,
                                        std::span<const std::int32_t> column_identity,
                                        const std::vector<std::uint8_t>& row_used,
                                        const std::vector<std::uint8_t>& column_used) {
  std::vector<std::int32_t>& known = people_;
  const auto each_used = [&](auto&& visit) {
    for (std::size_t i = 0; i < row_identity.size(); ++i)
      if (row_used[i]) visit(row_identity[i]);
    for (std::size_t i = 0; i < column_identity.size(); ++i)
      if (column_used[i]) visit(column_identity[i]);
  };
  // A list of millions names few people, mostly by small numbers: a table finds those.
  std::int32_t lowest = std::numeric_limits<std::int32_t>::max(), highest = -1;
  each_used([&](std::int32_t identity) {
    lowest = std::min(lowest, identity);
    highest = std::max(highest, identity);
  });
  const std::size_t sides = row_identity.size() + column_identity.size();
  const bool small = lowest >= 0 && static_cast<std::size_t>(highest) < sides + (1 << 20);
  std::vector<std::int32_t> place(small ? static_cast<std::size_t>(highest) + 1 : 0, -1);
  if (small) {
    each_used([&](std::int32_t identity) { place[static_cast<std::size_t>(identity)] = 0; });
    for (std::size_t identity = 0; identity < place.size(); ++identity) {
      if (place[identity] < 0) continue;
      place[identity] = static_cast<std::int32_t>(known.size());
      known.push_back(static_cast<std::int32_t>(identity));
    }
  } else {
    each_used([&](std::int32_t identity) { known.push_back(identity); });
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
  }
  identities_ = static_cast<std::int64_t>(known.size());
  const auto number = [&](std::span<const std::int32_t> identity,
                          const std::vector<std::uint8_t>& used, std::vector<std::int32_t>& out,
                          std::vector<std::int64_t>& count) {
    out.assign(identity.size(), -1);
    count.assign(known.size(), 0);
    for (std::size_t i = 0; i < identity.size(); ++i) {
      if (!used[i]) continue;
      out[i] = small ? place[static_cast<std::size_t>(identity[i])]
                     : static_cast<std::int32_t>(std::ranges::lower_bound(known, identity[i]) -
                                                 known.begin());
      ++count[static_cast<std::size_t>(out[i])];
    }
  };
  number(row_identity, row_used, row_number_, rows_of_);
  number(column_identity, column_used, column_number_, columns_of_);
}

void ManyComparisons::set_levels(Genuine all) {
  if (all.empty()) throw std::invalid_argument("none of the comparisons is genuine");
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto& [score, identity] : all) {
    if (level_.empty() || level_.back() != score) {
      level_.push_back(score);
      level_begin_.push_back(genuine_identity_.size());
    }
    genuine_identity_.push_back(identity);
  }
  level_begin_.push_back(genuine_identity_.size());
  genuine_of_.assign(static_cast<std::size_t>(identities_), 0);
  for (const std::int32_t i : genuine_identity_) ++genuine_of_[static_cast<std::size_t>(i)];
}

void ManyComparisons::count_blocks() {
  constexpr std::size_t most = std::size_t{1} << 22;  // numbers that are kept
  const auto n = static_cast<std::size_t>(identities_);
  const std::size_t blocks = known_levels_ / kBlock;
  if (blocks == 0 || n * n > most / blocks) return;
  std::vector<std::int64_t> impostors(n * n, 0), genuine(n, 0);
  std::size_t pair = 0;
  for (std::size_t block = 1; block <= blocks; ++block) {
    const std::size_t level = block * kBlock;
    std::visit(
        [&](const auto& pairs) {
          for (; pair < segment_begin_[2 * level]; ++pair)
            ++impostors[pairs[pair].first * n + pairs[pair].second];
        },
        pairs_);
    for (std::size_t k = level_begin_[level - kBlock]; k < level_begin_[level]; ++k)
      ++genuine[static_cast<std::size_t>(genuine_identity_[k])];
    block_impostors_.insert(block_impostors_.end(), impostors.begin(), impostors.end());
    block_genuine_.insert(block_genuine_.end(), genuine.begin(), genuine.end());
  }
}

template <class Id, class Source>
ManyComparisons::Pairs<Id> ManyComparisons::place_impostors(const Source& s, const Job& job) {
  const SegmentFinder segment_of(level_);
  const std::size_t segments = 2 * level_.size() + 1;
  std::vector<std::vector<std::size_t>> next(kChunks);
  parallel_for(kChunks, job, [&](std::int64_t chunk, int) {
    auto& count = next[static_cast<std::size_t>(chunk)];
    count.assign(segments, 0);
    for_each(s, chunk, [&](std::size_t k, std::size_t, std::size_t, Kind kind) {
      if (kind == is_impostor) ++count[segment_of(s.scores[k])];
    });
  });
  std::size_t at = 0;
  for (std::size_t segment = 0; segment < segments; ++segment) {
    segment_begin_.push_back(at);
    for (auto& count : next) at += std::exchange(count[segment], at);
  }
  segment_begin_.push_back(at);
  Pairs<Id> pairs(at);
  (listed_.empty() ? impostor_score_.resize(at) : impostor_at_.resize(at));
  parallel_for(kChunks, job, [&](std::int64_t chunk, int) {
    auto& place = next[static_cast<std::size_t>(chunk)];
    for_each(s, chunk, [&](std::size_t k, std::size_t r, std::size_t c, Kind kind) {
      if (kind != is_impostor) return;
      const std::size_t i = place[segment_of(s.scores[k])]++;
      if (listed_.empty())
        impostor_score_[i] = static_cast<float>(s.scores[k]);
      else
        impostor_at_[i] = static_cast<std::uint32_t>(k);
      pairs[i] = {static_cast<Id>(row_number_[r]), static_cast<Id>(column_number_[c])};
    });
  });
  return pairs;
}

}  // namespace facebench
