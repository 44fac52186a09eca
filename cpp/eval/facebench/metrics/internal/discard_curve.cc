#include "facebench/metrics/internal/discard_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/score_tail.h"

namespace facebench {
namespace {

// Counts by rank, whose sums from the first rank on are found in logarithmic time (Fenwick 1994).
class RankedCounts {
 public:
  explicit RankedCounts(std::uint32_t ranks) : sums_(ranks + 1, 0) {
    while (top_ * 2 <= ranks) top_ *= 2;
  }
  // Of ranks from 1 on; call once, before anything else.
  void fill(std::span<const std::int64_t> counts) {
    std::copy(counts.begin() + 1, counts.end(), sums_.begin() + 1);
    for (std::size_t i = 1; i < sums_.size(); ++i)
      if (const std::size_t up = i + (i & -i); up < sums_.size()) sums_[up] += sums_[i];
  }
  void subtract(std::uint32_t rank, std::int64_t count) {
    for (std::size_t i = rank; i < sums_.size(); i += i & -i) sums_[i] -= count;
  }
  std::int64_t up_to(std::uint32_t rank) const {
    std::int64_t sum = 0;
    for (std::size_t i = rank; i > 0; i -= i & -i) sum += sums_[i];
    return sum;
  }
  // The last rank up to which there are at most so many.
  std::uint32_t last_with(std::int64_t most) const {
    std::size_t at = 0;
    for (std::size_t step = top_; step > 0; step /= 2)
      if (at + step < sums_.size() && sums_[at + step] <= most) most -= sums_[at += step];
    return static_cast<std::uint32_t>(at);
  }

 private:
  std::vector<std::int64_t> sums_;
  std::size_t top_ = 1;
};

double pair_quality(double a, double b, bool product) { return product ? a * b : std::min(a, b); }

}  // namespace

std::int64_t RankedComparisons::weight(std::size_t i, std::span<const Weight> people) const {
  if (people.empty()) return 1;
  const auto a = static_cast<std::size_t>(first_person[i]);
  const auto b = static_cast<std::size_t>(second_person[i]);
  return a == b ? people[a] : std::int64_t{people[a]} * people[b];
}

DiscardCurve::DiscardCurve(const RankedComparisons& comparisons, const SampleComparisons& from,
                           const SampleQuality& quality, const DiscardOptions& options)
    : comparisons_(comparisons),
      far_(options.far),
      chosen_again_(options.discard_threshold == "chosen_again"),
      units_are_images_(options.discard == "images") {
  const bool product = options.pair_quality == "product";
  for (std::size_t s = 0; s < quality.values.size(); ++s) {
    const double q = quality.values[s];
    if (comparisons.sample_person[s] >= 0 && (!std::isfinite(q) || (product && q < 0)))
      throw std::invalid_argument(fmt::format("quality '{}' [{}] is {}; it must be {}",
                                              quality.name, s, q,
                                              product ? "finite and not negative" : "finite"));
  }
  std::vector<double> keys, unit_keys;
  for (std::size_t i = 0; i < from.scores.size(); ++i) {
    keys.push_back(pair_quality(quality.values[static_cast<std::size_t>(from.first_sample[i])],
                                quality.values[static_cast<std::size_t>(from.second_sample[i])],
                                product));
    if (!units_are_images_ && from.labels[i]) unit_keys.push_back(keys.back());
  }
  if (units_are_images_)
    for (std::size_t s = 0; s < quality.values.size(); ++s)
      if (comparisons.sample_person[s] >= 0) unit_keys.push_back(quality.values[s]);
  levels_ = unit_keys;
  std::ranges::sort(levels_);
  levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());

  const std::vector<std::uint32_t> of_comparison = levels_of(keys);
  for (std::uint32_t i = 0; i < keys.size(); ++i)
    (from.labels[i] ? genuine_ : impostor_).push_back({of_comparison[i], i});
  const auto by_level = [](const Member& a, const Member& b) { return a.level < b.level; };
  std::ranges::stable_sort(genuine_, by_level);
  std::ranges::stable_sort(impostor_, by_level);
  if (!units_are_images_) {
    units_ = genuine_;
    return;
  }
  const std::vector<std::uint32_t> of_unit = levels_of(unit_keys);
  std::size_t k = 0;
  for (const std::int32_t person : comparisons.sample_person)
    if (person >= 0) units_.push_back({of_unit[k++], static_cast<std::uint32_t>(person)});
  std::ranges::stable_sort(units_, by_level);
}

// The level after which each goes: the last that is not above it, or the first.
std::vector<std::uint32_t> DiscardCurve::levels_of(std::span<const double> keys) const {
  std::vector<std::uint32_t> result;
  for (const double key : keys) {
    const auto above = std::ranges::upper_bound(levels_, key) - levels_.begin();
    result.push_back(static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(above - 1, 0)));
  }
  return result;
}

RejectCurve DiscardCurve::evaluate(std::span<const Weight> people, double limit) const {
  const RankedComparisons& c = comparisons_;
  std::int64_t units = 0, genuine = 0, impostor = 0, wrong = 0;
  for (const Member& u : units_)
    units += !units_are_images_ ? c.weight(u.comparison, people)
             : people.empty()   ? 1
                                : people[u.comparison];
  RankedCounts genuine_ranks(chosen_again_ ? c.ranks : 0);
  RankedCounts impostor_ranks(chosen_again_ ? c.ranks : 0);
  std::vector<std::int64_t> counts(chosen_again_ ? c.ranks + 1 : 0, 0);
  const auto count_up = [&](const std::vector<Member>& members, std::int64_t& total,
                            RankedCounts& ranks) {
    std::ranges::fill(counts, 0);
    for (const Member& m : members) {
      const std::int64_t w = c.weight(m.comparison, people);
      total += w;
      wrong += w * c.wrong[m.comparison];
      if (chosen_again_) counts[c.rank[m.comparison]] += w;
    }
    if (chosen_again_) ranks.fill(counts);
  };
  count_up(genuine_, genuine, genuine_ranks);
  if (chosen_again_) count_up(impostor_, impostor, impostor_ranks);

  RejectCurve curve;
  const std::int64_t all = units;
  auto unit = units_.begin();
  auto match = genuine_.begin(), non_match = impostor_.begin();
  for (std::uint32_t level = 0; level < levels_.size(); ++level) {
    if (genuine == 0 || (chosen_again_ && impostor == 0)) break;
    if (chosen_again_) {
      const std::uint32_t last = impostor_ranks.last_with(allowed_false_accepts(far_, impostor));
      wrong = genuine - genuine_ranks.up_to(last);
    }
    curve.add(ratio(all - units, all), levels_[level], wrong, genuine);
    if (curve.rejected.back() >= limit) break;
    for (; unit != units_.end() && unit->level == level; ++unit)
      units -= !units_are_images_ ? c.weight(unit->comparison, people)
               : people.empty()   ? 1
                                  : people[unit->comparison];
    for (; match != genuine_.end() && match->level == level; ++match) {
      const std::int64_t w = c.weight(match->comparison, people);
      genuine -= w;
      wrong -= w * c.wrong[match->comparison];
      if (chosen_again_) genuine_ranks.subtract(c.rank[match->comparison], w);
    }
    if (!chosen_again_) continue;
    for (; non_match != impostor_.end() && non_match->level == level; ++non_match) {
      const std::int64_t w = c.weight(non_match->comparison, people);
      impostor -= w;
      impostor_ranks.subtract(c.rank[non_match->comparison], w);
    }
  }
  return curve;
}

}  // namespace facebench
