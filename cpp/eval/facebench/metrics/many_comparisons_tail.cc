#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "facebench/metrics/internal/score_segments.h"
#include "facebench/metrics/many_comparisons.h"

// ManyComparisons out of a score tail.
namespace facebench {
namespace {

void check(const ScoreTail& tail, const TailSides& s) {
  const auto all_below = [](const std::vector<std::int32_t>& at, std::size_t size) {
    return std::ranges::all_of(
        at, [&](std::int32_t i) { return i >= 0 && static_cast<std::size_t>(i) < size; });
  };
  const std::size_t rows = s.row_identity.size(), columns = s.column_identity.size();
  if (tail.genuine_row.size() != tail.genuine.size() ||
      tail.genuine_column.size() != tail.genuine.size() ||
      tail.impostor_row.size() > tail.impostor.size() ||
      tail.impostor_column.size() != tail.impostor_row.size() ||
      (!s.row_left_out.empty() && s.row_left_out.size() != rows) ||
      (!s.column_left_out.empty() && s.column_left_out.size() != columns) ||
      !all_below(tail.genuine_row, rows) || !all_below(tail.genuine_column, columns) ||
      !all_below(tail.impostor_row, rows) || !all_below(tail.impostor_column, columns))
    throw std::invalid_argument(
        fmt::format("the tail is not one of {} rows and {} columns, or its lists differ in length",
                    rows, columns));
  if (s.triangle && !std::ranges::equal(s.row_identity, s.column_identity))
    throw std::invalid_argument("dense comparisons: a triangle whose columns are not its rows");
}

}  // namespace

template <class Id>
ManyComparisons::Pairs<Id> ManyComparisons::place_impostors(const ScoreTail& tail,
                                                            const TailSides& sides) {
  const SegmentFinder segment_of(level_);
  struct Placed {
    std::size_t segment;
    float score;
    Pair<Id> pair;
  };
  std::vector<Placed> all;
  for (std::size_t k = 0; k < tail.impostor_row.size(); ++k) {
    const auto r = static_cast<std::size_t>(tail.impostor_row[k]);
    const auto c = static_cast<std::size_t>(tail.impostor_column[k]);
    const auto score = static_cast<float>(tail.impostor[k]);
    if (!(score > known_above_)) break;  // they descend
    if (sides.row_identity[r] == sides.column_identity[c])
      throw std::invalid_argument(fmt::format("impostor score {} of the tail is of one person", k));
    if (row_number_[r] >= 0 && column_number_[c] >= 0)
      all.push_back({segment_of(score),
                     score,
                     {static_cast<Id>(row_number_[r]), static_cast<Id>(column_number_[c])}});
  }
  // Descending scores are segments in ascending order already.
  Pairs<Id> pairs;
  for (std::size_t segment = 0; segment <= 2 * level_.size() + 1; ++segment) {
    segment_begin_.push_back(pairs.size());
    while (pairs.size() < all.size() && all[pairs.size()].segment == segment) {
      impostor_score_.push_back(all[pairs.size()].score);
      pairs.push_back(all[pairs.size()].pair);
    }
  }
  return pairs;
}

ManyComparisons::ManyComparisons(const ScoreTail& tail, const TailSides& s) {
  check(tail, s);
  triangle_ = s.triangle;
  const auto taking_part = [](std::size_t size, std::span<const std::uint8_t> left_out) {
    std::vector<std::uint8_t> used(size, 1);
    for (std::size_t i = 0; i < left_out.size(); ++i) used[i] = !left_out[i];
    return used;
  };
  const auto row_used = taking_part(s.row_identity.size(), s.row_left_out);
  const auto column_used = taking_part(s.column_identity.size(), s.column_left_out);
  number_identities(s.row_identity, s.column_identity, row_used, column_used);
  Genuine genuine;
  for (std::size_t k = 0; k < tail.genuine.size(); ++k) {
    const auto r = static_cast<std::size_t>(tail.genuine_row[k]);
    if (row_used[r] && column_used[static_cast<std::size_t>(tail.genuine_column[k])])
      genuine.emplace_back(static_cast<float>(tail.genuine[k]), row_number_[r]);
  }
  set_levels(std::move(genuine));
  // As floats the lowest kept scores may equal some that were not kept.
  if (static_cast<std::int64_t>(tail.impostor_row.size()) < tail.impostor_count)
    known_above_ = tail.impostor.empty() ? std::numeric_limits<double>::infinity()
                                         : static_cast<float>(tail.impostor.back());
  while (known_levels_ < level_.size() && level_[known_levels_] > known_above_) ++known_levels_;
  if (identities_ <= kShortIds)
    pairs_ = place_impostors<std::uint16_t>(tail, s);
  else
    pairs_ = place_impostors<std::uint32_t>(tail, s);
  impostor_ = impostor_total({}, 1, 0);
  if (impostor_ == 0) throw std::invalid_argument("none of the comparisons is an impostor");
}

}  // namespace facebench
