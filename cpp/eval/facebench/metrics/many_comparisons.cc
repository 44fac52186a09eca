#include "facebench/metrics/many_comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>
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
  const auto fits = [](std::size_t size, std::size_t wanted) {
    return size == 0 || size == wanted;
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

template <class Fits>
ManyComparisons::BlockStart ManyComparisons::last_block(std::span<const Weight> weights,
                                                        const Fits& fits) const {
  BlockStart start;
  const auto n = static_cast<std::size_t>(identities_);
  const auto weight = [&](std::size_t i) {
    return weights.empty() ? std::int64_t{1} : static_cast<std::int64_t>(weights[i]);
  };
  for (std::size_t first = 0, last = block_genuine_.size() / n; first < last;) {
    const std::size_t middle = (first + last) / 2;  // block number from 0
    std::int64_t accepted = 0, genuine = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t* of = &block_impostors_[(middle * n + i) * n];
      std::int64_t row = 0;
      for (std::size_t j = 0; j < n; ++j) row += weight(j) * of[j];
      accepted += weight(i) * row;
      genuine += weight(i) * block_genuine_[middle * n + i];
    }
    if (fits(accepted)) {
      start = {(middle + 1) * kBlock, accepted, genuine};
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return start;
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

std::int64_t ManyComparisons::impostor_total(std::span<const Weight> weights, std::size_t stride,
                                             std::size_t lane) const {
  std::int64_t rows = 0, columns = 0, same = 0;
  for (std::size_t i = 0; i < rows_of_.size(); ++i) {
    const std::int64_t w = weights.empty() ? 1 : weights[i * stride + lane];
    rows += w * rows_of_[i];
    columns += w * columns_of_[i];
    same += w * w * rows_of_[i] * columns_of_[i];
  }
  const std::int64_t ordered = rows * columns - same;
  return triangle_ ? ordered / 2 : ordered;
}

template <class Real, class Id, class Put>
void ManyComparisons::walk(const Pairs<Id>& pairs, std::span<const Weight> weights,
                           double far_needed, std::span<const RocCurve> totals,
                           const Put& put) const {
  using Lanes = std::array<Real, kLanes>;
  const auto n = static_cast<std::size_t>(identities_);
  std::vector<Lanes> table(n);
  double largest = 1;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      table[i][lane] = static_cast<Real>(weights[i * kLanes + lane]);
      largest = std::max(largest, static_cast<double>(weights[i * kLanes + lane]));
    }
  // So many products are added that the sum is still exact.
  const auto exact = static_cast<std::size_t>(std::ldexp(1.0, std::numeric_limits<Real>::digits) /
                                              (largest * largest));
  Counts accepted{}, genuine{};
  const auto add_segment = [&](std::size_t segment) {
    for (std::size_t begin = segment_begin_[segment]; begin < segment_begin_[segment + 1];) {
      const std::size_t end = std::min(segment_begin_[segment + 1], begin + exact);
      Lanes sum{};
      for (std::size_t k = begin; k < end; ++k) {
        const Lanes& a = table[pairs[k].first];
        const Lanes& b = table[pairs[k].second];
        for (std::size_t lane = 0; lane < kLanes; ++lane) sum[lane] += a[lane] * b[lane];
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        accepted[lane] += static_cast<std::int64_t>(sum[lane]);
      begin = end;
    }
  };
  Counts stop{};
  const bool may_stop = by_identity_ && far_needed < 1;
  for (std::size_t lane = 0; lane < totals.size(); ++lane)
    stop[lane] = static_cast<std::int64_t>(
                     std::ceil(far_needed * static_cast<double>(totals[lane].impostor))) +
                 1;
  put(std::numeric_limits<double>::infinity(), genuine, accepted);
  for (std::size_t l = 0; l <= known_levels_; ++l) {
    add_segment(2 * l);
    // Only impostor scores, whose order does not affect any genuine comparison.
    put(l < known_levels_ ? std::nextafter(level_[l], std::numeric_limits<double>::infinity())
                          : known_above_,
        genuine, accepted);
    if (l == known_levels_) break;
    add_segment(2 * l + 1);
    for (std::size_t k = level_begin_[l]; k < level_begin_[l + 1]; ++k)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        genuine[lane] += weights[static_cast<std::size_t>(genuine_identity_[k]) * kLanes + lane];
    put(level_[l], genuine, accepted);
    bool done = may_stop;
    for (std::size_t lane = 0; done && lane < totals.size(); ++lane)
      done = accepted[lane] >= stop[lane];
    if (done) return;
  }
}

template <class Put>
void ManyComparisons::walk(std::span<const Weight> weights, double far_needed,
                           std::span<const RocCurve> totals, const Put& put) const {
  // Products of weights up to 2^12 are exact in a float; an identity is never drawn that often, but
  // a caller may pass such weights.
  const bool small = std::ranges::all_of(weights, [](Weight w) { return w < 1 << 11; });
  std::visit(
      [&](const auto& pairs) {
        if (small)
          walk<float>(pairs, weights, far_needed, totals, put);
        else
          walk<double>(pairs, weights, far_needed, totals, put);
      },
      pairs_);
}

// Curves without points, but with their totals; those of impostors where identities tell them.
std::vector<RocCurve> ManyComparisons::empty_curves(std::span<const Weight> weights,
                                                    std::size_t lanes) const {
  std::vector<RocCurve> curves(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    for (const std::int32_t i : genuine_identity_)
      curves[lane].genuine += weights[static_cast<std::size_t>(i) * kLanes + lane];
    if (by_identity_) curves[lane].impostor = impostor_total(weights, kLanes, lane);
  }
  return curves;
}

std::vector<RocCurve> ManyComparisons::curves(std::span<const Weight> weights, std::size_t lanes,
                                              double far_needed) const {
  std::vector<RocCurve> result = empty_curves(weights, lanes);
  walk(weights, far_needed, result,
       [&](double threshold, const Counts& genuine, const Counts& accepted) {
         for (std::size_t lane = 0; lane < lanes; ++lane) {
           result[lane].threshold.push_back(threshold);
           result[lane].true_accepts.push_back(genuine[lane]);
           result[lane].false_accepts.push_back(accepted[lane]);
         }
       });
  if (!by_identity_)
    for (RocCurve& curve : result) curve.impostor = curve.false_accepts.back();
  return result;
}

std::vector<ManyComparisons::CurveParts> ManyComparisons::curve_parts(
    std::span<const Weight> weights, std::size_t lanes, const PartsNeeded& needed) const {
  const std::vector<RocCurve> totals = empty_curves(weights, lanes);
  std::vector<CurveParts> parts(lanes);
  // Of each lane: how many false accepts the next FAR allows, and which FAR that is.
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  Counts allowed, all_genuine{}, all_impostors{};
  std::array<Wide, kLanes> area{};
  std::array<std::size_t, kLanes> next{};
  allowed.fill(never);
  const auto find_next = [&](std::size_t lane, std::int64_t accepted) {
    allowed[lane] = never;
    for (; next[lane] < needed.fars.size(); ++next[lane]) {
      allowed[lane] = allowed_false_accepts(needed.fars[next[lane]], all_impostors[lane]);
      if (accepted <= allowed[lane]) return;
    }
    allowed[lane] = never;
  };
  std::array<bool, kLanes> crosses{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    parts[lane].points.genuine = all_genuine[lane] = totals[lane].genuine;
    parts[lane].points.impostor = all_impostors[lane] = totals[lane].impostor;
    find_next(lane, 0);
    crosses[lane] = needed.crossing;
  }
  // The point before, whether each lane has kept it, and the counts there.
  double before = 0;
  std::array<bool, kLanes> kept{};
  Counts genuine_before{}, accepted_before{};
  const auto keep = [&](std::size_t lane, double threshold, std::int64_t genuine,
                        std::int64_t accepted) {
    parts[lane].points.threshold.push_back(threshold);
    parts[lane].points.true_accepts.push_back(genuine);
    parts[lane].points.false_accepts.push_back(accepted);
  };
  const double far_needed =
      needed.area || needed.crossing || needed.fars.empty() ? 1 : needed.fars.back();
  walk(weights, far_needed, totals,
       [&](double threshold, const Counts& genuine, const Counts& accepted) {
         const bool first = std::isinf(threshold) && threshold > 0;
         if (needed.area)
           for (std::size_t lane = 0; lane < kLanes; ++lane)
             area[lane] += Wide(accepted[lane] - accepted_before[lane]) *
                           (genuine[lane] + genuine_before[lane]);
         for (std::size_t lane = 0; lane < lanes; ++lane) {
           const bool past_far = accepted[lane] > allowed[lane];
           const bool equal =
               crosses[lane] && Wide(accepted[lane]) * all_genuine[lane] >=
                                    Wide(all_genuine[lane] - genuine[lane]) * all_impostors[lane];
           const bool wanted = first || past_far || equal;
           if (wanted) {
             if (!first && !kept[lane])
               keep(lane, before, genuine_before[lane], accepted_before[lane]);
             keep(lane, threshold, genuine[lane], accepted[lane]);
             if (past_far) find_next(lane, accepted[lane]);
             crosses[lane] = crosses[lane] && !equal;
           }
           kept[lane] = wanted;
         }
         before = threshold;
         genuine_before = genuine;
         accepted_before = accepted;
       });
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (!kept[lane]) keep(lane, before, genuine_before[lane], accepted_before[lane]);
    parts[lane].auc = static_cast<double>(area[lane]) /
                      static_cast<double>(Wide(2) * all_genuine[lane] * all_impostors[lane]);
  }
  return parts;
}

void ManyComparisons::check_weights(std::span<const Weight> weights) const {
  if (!weights.empty() && weights.size() != static_cast<std::size_t>(identities_))
    throw std::invalid_argument(
        fmt::format("{} weights for {} identities", weights.size(), identities_));
}

RocCurve ManyComparisons::roc(std::span<const Weight> weights) const {
  check_weights(weights);
  const auto n = static_cast<std::size_t>(identities_);
  std::vector<Weight> lanes(n * kLanes, 0);
  for (std::size_t i = 0; i < n; ++i) lanes[i * kLanes] = weights.empty() ? 1 : weights[i];
  return curves(lanes, 1, 1).front();
}

std::int64_t ManyComparisons::segment_weight(std::size_t segment,
                                             std::span<const Weight> weights) const {
  const std::size_t begin = segment_begin_[segment], end = segment_begin_[segment + 1];
  if (weights.empty()) return static_cast<std::int64_t>(end - begin);
  return std::visit(
      [&](const auto& pairs) {
        std::int64_t sum = 0;
        for (std::size_t k = begin; k < end; ++k)
          sum += static_cast<std::int64_t>(weights[pairs[k].first]) * weights[pairs[k].second];
        return sum;
      },
      pairs_);
}

std::int64_t ManyComparisons::impostor_weight(std::size_t k,
                                              std::span<const Weight> weights) const {
  if (weights.empty()) return 1;
  return std::visit(
      [&](const auto& pairs) {
        return static_cast<std::int64_t>(weights[pairs[k].first]) * weights[pairs[k].second];
      },
      pairs_);
}

std::int64_t ManyComparisons::genuine_weight(std::size_t level,
                                             std::span<const Weight> weights) const {
  std::int64_t sum = 0;
  for (std::size_t k = level_begin_[level]; k < level_begin_[level + 1]; ++k)
    sum += weights.empty() ? 1 : weights[static_cast<std::size_t>(genuine_identity_[k])];
  return sum;
}

std::pair<std::int64_t, std::int64_t> ManyComparisons::totals(
    std::span<const Weight> weights) const {
  std::int64_t genuine = 0, impostor = 0;
  for (std::size_t i = 0; i < genuine_of_.size(); ++i)
    genuine += (weights.empty() ? 1 : static_cast<std::int64_t>(weights[i])) * genuine_of_[i];
  if (by_identity_)
    impostor = impostor_total(weights, 1, 0);
  else
    for (std::size_t s = 0; s + 1 < segment_begin_.size(); ++s)
      impostor += segment_weight(s, weights);
  return {genuine, impostor};
}

std::vector<std::pair<double, std::int64_t>> ManyComparisons::ends_of(
    std::size_t segment, std::span<const Weight> weights) const {
  std::pair<double, std::int64_t> highest{-std::numeric_limits<double>::infinity(), 0},
      lowest{std::numeric_limits<double>::infinity(), 0};
  for (std::size_t k = segment_begin_[segment]; k < segment_begin_[segment + 1]; ++k) {
    const std::int64_t w = impostor_weight(k, weights);
    if (w == 0) continue;
    const double score = impostor_score(k);
    if (score > highest.first) highest = {score, 0};
    if (score < lowest.first) lowest = {score, 0};
    if (score == highest.first) highest.second += w;
    if (score == lowest.first) lowest.second += w;
  }
  if (highest.first == lowest.first) return {highest};
  return {highest, lowest};
}

std::vector<std::pair<double, std::int64_t>> ManyComparisons::drawn_scores(
    std::size_t segment, std::span<const Weight> weights) const {
  std::vector<std::pair<double, std::int64_t>> scores;
  for (std::size_t k = segment_begin_[segment]; k < segment_begin_[segment + 1]; ++k)
    if (const std::int64_t w = impostor_weight(k, weights); w > 0)
      scores.emplace_back(impostor_score(k), w);
  std::ranges::sort(scores, std::greater<>());
  return scores;
}

std::vector<std::uint8_t> ManyComparisons::taking_part(bool genuine) const {
  // Where the identities alone say who is compared, everybody is with somebody else.
  std::vector<std::uint8_t> part(static_cast<std::size_t>(identities_), !genuine && by_identity_);
  if (genuine)
    for (const std::int32_t i : genuine_identity_) part[static_cast<std::size_t>(i)] = 1;
  else if (!by_identity_)
    std::visit(
        [&](const auto& pairs) {
          for (const auto& pair : pairs) part[pair.first] = part[pair.second] = 1;
        },
        pairs_);
  return part;
}

bool ManyComparisons::reaches(double far) const {
  return complete() || !within_far(known_impostors(), impostor(), far);
}

RocCurve ManyComparisons::roc_near(double far, std::span<const Weight> weights) const {
  check_weights(weights);
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto [genuine, impostor] = totals(weights);
  std::int64_t false_accepts = 0, genuine_accepted = 0;
  double last = inf;                  // the lowest accepted score
  std::optional<double> next;         // the highest rejected one
  std::optional<std::size_t> lowest;  // where `last` lies within a segment that is accepted whole
  const auto fits = [&, all = impostor](std::int64_t more) {
    return all > 0 && within_far(false_accepts + more, all, far);
  };
  // Down the segments while the FAR stays within the target; then into the one where it leaves. If
  // the known scores end before that, the curve is not complete.
  const BlockStart start = last_block(weights, fits);
  false_accepts = start.false_accepts;
  genuine_accepted = start.genuine_accepted;
  // The lowest score that is drawn above that.
  for (std::size_t segment = 2 * start.level; segment-- > 0;) {
    const std::int64_t more = segment_weight(segment, weights);
    if (segment % 2 == 0) {
      if (more == 0) continue;
      lowest = segment;
    } else if (more + genuine_weight(segment / 2, weights) > 0) {
      last = level_[segment / 2];
    } else {
      continue;
    }
    break;
  }
  for (std::size_t segment = 2 * start.level; segment <= 2 * known_levels_; ++segment) {
    const std::size_t level = segment / 2;
    const std::int64_t more = segment_weight(segment, weights);
    if (fits(more)) {
      false_accepts += more;
      if (segment % 2 == 0) {
        if (more > 0) lowest = segment;
        continue;
      }
      const std::int64_t own = genuine_weight(level, weights);
      genuine_accepted += own;
      if (own + more > 0) {
        last = level_[level];
        lowest.reset();
      }
      continue;
    }
    if (segment % 2 == 1) {
      next = level_[level];
      break;
    }
    std::int64_t group = 0;
    const auto scores = drawn_scores(segment, weights);
    for (std::size_t k = 0; k < scores.size(); ++k) {
      group += scores[k].second;
      if (k + 1 < scores.size() && scores[k + 1].first == scores[k].first) continue;
      next = scores[k].first;
      if (!fits(group)) break;
      false_accepts += group;
      group = 0;
      last = *next;
      lowest.reset();
    }
    break;
  }
  if (lowest) last = ends_of(*lowest, weights).back().first;
  return points_around(genuine, impostor, genuine_accepted, false_accepts, last, next);
}

RocCurve ManyComparisons::roc_around(double far, std::span<const Weight> weights) const {
  check_weights(weights);
  if (!complete())
    throw std::invalid_argument("only the highest impostor scores are known, this needs all");
  RocCurve curve;
  std::tie(curve.genuine, curve.impostor) = totals(weights);
  std::int64_t true_accepts = 0, false_accepts = 0;
  const auto put = [&](double threshold) {
    curve.threshold.push_back(threshold);
    curve.true_accepts.push_back(true_accepts);
    curve.false_accepts.push_back(false_accepts);
  };
  put(std::numeric_limits<double>::infinity());
  // Rules round the count that a FAR allows in their own ways.
  const double wanted = far * static_cast<double>(curve.impostor);
  const auto near = [&](std::int64_t first, std::int64_t last) {
    return static_cast<double>(first) <= wanted + 2 && static_cast<double>(last) >= wanted - 2;
  };
  for (std::size_t segment = 0; segment <= 2 * level_.size(); ++segment) {
    const std::int64_t more = segment_weight(segment, weights);
    if (segment % 2 == 1) {
      const std::int64_t own = genuine_weight(segment / 2, weights);
      true_accepts += own;
      false_accepts += more;
      if (own + more > 0) put(level_[segment / 2]);
      continue;
    }
    if (more == 0) continue;
    const std::int64_t end = false_accepts + more;
    const auto scores =
        near(false_accepts, end) ? drawn_scores(segment, weights) : ends_of(segment, weights);
    for (std::size_t k = 0; k < scores.size(); ++k) {
      false_accepts += scores[k].second;
      if (k + 1 == scores.size()) false_accepts = end;
      if (k + 1 == scores.size() || scores[k + 1].first != scores[k].first) put(scores[k].first);
    }
  }
  return curve;
}

}  // namespace facebench
