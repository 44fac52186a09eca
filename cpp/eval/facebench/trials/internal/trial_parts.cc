#include "facebench/trials/internal/trial_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/metrics/listed_pairs.h"

namespace facebench {

void check_units(const std::vector<std::int32_t>& units, const TrialSet& trials,
                 const std::string& track) {
  for (const std::int32_t u : units)
    if (u < 0 || static_cast<std::size_t>(u) >= trials.units())
      throw std::out_of_range(fmt::format("track {}: unit {} of {}", track, u, trials.units()));
}

void check_distinct(const std::vector<std::int32_t>& units, const TrialSet& trials,
                    const std::string& track) {
  std::unordered_set<std::int32_t> seen;
  for (const std::int32_t u : units)
    if (!seen.insert(u).second)
      throw std::invalid_argument(
          fmt::format("track {}: {} is there twice", track, trials.unit_name(u)));
}

void check_rows_and_columns(const std::vector<std::int32_t>& rows,
                            const std::vector<std::int32_t>& columns, bool triangle, bool distinct,
                            const TrialSet& trials, const std::string& track) {
  const auto require = [&](bool ok, const std::string& what) {
    if (!ok) throw std::invalid_argument(fmt::format("track {}: {}", track, what));
  };
  require(!rows.empty() && !columns.empty(), "no rows or no columns");
  check_units(rows, trials, track);
  check_units(columns, trials, track);
  if (distinct) {
    check_distinct(rows, trials, track);
    check_distinct(columns, trials, track);
  }
  if (triangle) {
    require(rows == columns, "a triangle whose columns are not its rows");
    return;
  }
  const std::unordered_set<std::int32_t> known(rows.begin(), rows.end());
  for (const std::int32_t u : columns)
    require(!known.contains(u), fmt::format("{} is compared with itself", trials.unit_name(u)));
}

TrackSide track_side(std::span<const std::int32_t> identity, std::span<const std::int32_t> units,
                     std::span<const std::uint8_t> left_out) {
  TrackSide side;
  for (const std::int32_t u : units) {
    side.identity.push_back(identity[static_cast<std::size_t>(u)]);
    side.left_out.push_back(!left_out.empty() && left_out[static_cast<std::size_t>(u)]);
  }
  return side;
}

TrialSize size_of_all_pairs(const TrackSide& rows, const TrackSide& columns, bool triangle) {
  std::unordered_map<std::int32_t, std::int64_t> of_person;
  std::int64_t height = 0, width = 0;
  for (std::size_t c = 0; c < columns.identity.size(); ++c) {
    if (columns.left_out[c]) continue;
    ++width;
    ++of_person[columns.identity[c]];
  }
  TrialSize size;
  for (std::size_t r = 0; r < rows.identity.size(); ++r) {
    if (rows.left_out[r]) continue;
    ++height;
    if (const auto found = of_person.find(rows.identity[r]); found != of_person.end())
      size.genuine += found->second;
  }
  size.comparisons = height * width;
  if (triangle) size = {(size.comparisons - height) / 2, (size.genuine - height) / 2};
  return size;
}

void require_each(const ScoredTrack& scored, const Trials& trials) {
  const Scores& scores = scored.scores;
  const std::size_t kept = trials.single() ? scores.each_single.size() : scores.each.size();
  if (kept != static_cast<std::size_t>(trials.slots()))
    throw std::invalid_argument(
        fmt::format("{}: {} scores are kept of {}", scored.where, kept, trials.slots()));
}

void require_both_classes(const ScoredTrack& scored, const Trials& trials) {
  const TrialSize left = trials.size(scored.set, scored.left_out);
  const std::int64_t impostor = left.comparisons - left.genuine;
  if (left.genuine > 0 && impostor > 0) return;
  fail(scored.where,
       fmt::format("{} genuine and {} impostor comparisons are left of {}", left.genuine, impostor,
                   trials.size(scored.set).comparisons),
       "Both kinds are needed.");
}

EnrolledUnits enrolled_units(const UnitEmbeddings& units, std::span<const std::int32_t> list) {
  EnrolledUnits result;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (units.failed(list[i])) continue;
    result.position.push_back(static_cast<std::int32_t>(i));
    const auto values = units.row(list[i]);
    result.values.insert(result.values.end(), values.begin(), values.end());
    result.identity.push_back(units.identity[static_cast<std::size_t>(list[i])]);
  }
  return result;
}

std::vector<std::int32_t> distinct(std::vector<std::int32_t> units) {
  std::unordered_set<std::int32_t> seen;
  std::erase_if(units, [&](std::int32_t u) { return !seen.insert(u).second; });
  return units;
}

std::vector<std::int32_t> joined(std::vector<std::int32_t> first,
                                 const std::vector<std::int32_t>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

bool same_units(std::span<const std::int32_t> units, std::span<const std::int32_t> other,
                std::span<const std::int32_t> unit_of_other) {
  return std::ranges::equal(
      units, other, {}, [&](std::int32_t u) { return unit_of_other[static_cast<std::size_t>(u)]; });
}

template <class T>
std::vector<T> cosine_block(const UnitEmbeddings& units, std::span<const std::int32_t> rows,
                            std::span<const std::int32_t> columns, bool triangle, const Job& job) {
  const EnrolledUnits left = enrolled_units(units, rows);
  const EnrolledUnits other = triangle ? EnrolledUnits{} : enrolled_units(units, columns);
  const EnrolledUnits& right = triangle ? left : other;

  std::vector<T> scores(rows.size() * columns.size(), static_cast<T>(failed_score({})));
  // Some rows at a time: a triangle then computes little that it does not need.
  constexpr std::size_t strip = 1024;
  const std::size_t strips = (left.position.size() + strip - 1) / strip;
  Stage stage(job, "score", static_cast<std::int64_t>(strips), "blocks");
  Job inner = job;
  inner.progress = nullptr;
  const EmbeddingRows left_rows(left.values, units.dim, inner);
  const EmbeddingRows other_rows(other.values, units.dim, inner);
  const EmbeddingRows& right_rows = triangle ? left_rows : other_rows;
  std::vector<T> block;
  for (std::size_t s = 0; s < strips && !right.position.empty(); ++s) {
    const std::size_t r0 = s * strip, height = std::min(strip, left.position.size() - r0);
    const std::size_t c0 = triangle ? r0 : 0, width = right.position.size() - c0;
    block.resize(height * width);
    const auto of = [](const EmbeddingRows& all, std::size_t first, std::size_t count) {
      return all.slice(static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
    };
    dense_scores(of(left_rows, r0, height), of(right_rows, c0, width), std::span(block), inner);
    place_scores<T>(block, std::span(left.position).subspan(r0, height),
                    std::span(right.position).subspan(c0), columns.size(), scores);
    stage.update(static_cast<std::int64_t>(s) + 1);
  }
  for (std::size_t row = 0; triangle && row < rows.size(); ++row)
    std::fill_n(scores.begin() + static_cast<std::ptrdiff_t>(row * columns.size()), row + 1, T(0));
  return scores;
}

template std::vector<float> cosine_block(const UnitEmbeddings&, std::span<const std::int32_t>,
                                         std::span<const std::int32_t>, bool, const Job&);
template std::vector<double> cosine_block(const UnitEmbeddings&, std::span<const std::int32_t>,
                                          std::span<const std::int32_t>, bool, const Job&);

}  // namespace facebench
