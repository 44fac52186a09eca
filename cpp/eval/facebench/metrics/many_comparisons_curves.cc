// The curves of very many comparisons, whole and in part.
#include "facebench/metrics/many_comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/internal/measures.h"

namespace facebench {

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
    for (std::size_t i = 0; i < genuine_of_.size(); ++i)
      curves[lane].genuine += weights[i * kLanes + lane] * genuine_of_[i];
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
           const bool is_corner = first || past_far || equal;
           if (is_corner) {
             if (!first && !kept[lane])
               keep(lane, before, genuine_before[lane], accepted_before[lane]);
             keep(lane, threshold, genuine[lane], accepted[lane]);
             if (past_far) find_next(lane, accepted[lane]);
             crosses[lane] = crosses[lane] && !equal;
           }
           kept[lane] = is_corner;
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

std::vector<std::int64_t> ManyComparisons::taking_part(bool genuine) const {
  if (genuine) return genuine_of_;
  std::vector<std::int64_t> part(static_cast<std::size_t>(identities_), 0);
  if (by_identity_) {
    // Everybody's rows with everybody else's columns, and the other way round.
    const auto rows = std::accumulate(rows_of_.begin(), rows_of_.end(), std::int64_t{0});
    const auto columns = std::accumulate(columns_of_.begin(), columns_of_.end(), std::int64_t{0});
    for (std::size_t i = 0; i < part.size(); ++i)
      part[i] = rows_of_[i] * (columns - columns_of_[i]) +
                (triangle_ ? 0 : columns_of_[i] * (rows - rows_of_[i]));
    return part;
  }
  std::visit(
      [&](const auto& pairs) {
        for (const auto& pair : pairs) {
          ++part[pair.first];
          ++part[pair.second];
        }
      },
      pairs_);
  return part;
}

bool ManyComparisons::reaches(double far) const {
  return complete() || !within_far(known_impostors(), impostor(), far);
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
  const double allowed = far * static_cast<double>(curve.impostor);
  const auto near = [&](std::int64_t first, std::int64_t last) {
    return static_cast<double>(first) <= allowed + 2 && static_cast<double>(last) >= allowed - 2;
  };
  for (std::size_t segment = 0; segment <= 2 * level_.size(); ++segment) {
    const std::int64_t impostors = segment_weight(segment, weights);
    if (segment % 2 == 1) {
      const std::int64_t genuine = genuine_weight(segment / 2, weights);
      true_accepts += genuine;
      false_accepts += impostors;
      if (genuine + impostors > 0) put(level_[segment / 2]);
      continue;
    }
    if (impostors == 0) continue;
    const std::int64_t end = false_accepts + impostors;
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
