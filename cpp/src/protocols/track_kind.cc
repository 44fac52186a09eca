#include "protocols/track_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/metrics/listed_pairs.h"

namespace facebench {

const Table<TrackKind>& track_kinds() {
  static const Table<TrackKind> table("kind of track", {listed_kind(), dense_kind(), matrix_kind(),
                                                        identification_kind(), all_pairs_kind()});
  return table;
}

const TrackKind& kind_of(const Track& track) {
  return track_kinds().entries()[track.trials.index()];
}

bool keeps_scores(const TrackScores& scores) {
  return std::holds_alternative<std::vector<double>>(scores) ||
         std::holds_alternative<std::vector<float>>(scores);
}

std::int64_t score_count(const TrackScores& scores) {
  return std::visit(
      []<class T>(const T& s) -> std::int64_t {
        if constexpr (requires { s.size(); })
          return static_cast<std::int64_t>(s.size());
        else
          return 0;
      },
      scores);
}

double score_at(const TrackScores& scores, std::int64_t k) {
  const auto n = static_cast<std::size_t>(k);
  if (const auto* floats = std::get_if<std::vector<float>>(&scores)) return (*floats)[n];
  return std::get<std::vector<double>>(scores)[n];
}

TrackSize track_size(const Track& track, const TrialSet& trials) {
  const TrackKind& kind = kind_of(track);
  if (kind.size) return kind.size(track, trials);
  std::int64_t slots = 1;
  for (const std::int64_t n : kind.shape(track)) slots *= n;
  TrackSize size;
  for (std::int64_t k = 0; k < slots; ++k) {
    if (!kind.sides(track, k)) continue;
    ++size.comparisons;
    size.genuine += kind.genuine(track, trials, k);
  }
  return size;
}

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
                            const std::vector<std::int32_t>& columns, bool triangle,
                            const TrialSet& trials, const std::string& track) {
  const auto require = [&](bool ok, const std::string& what) {
    if (!ok) throw std::invalid_argument(fmt::format("track {}: {}", track, what));
  };
  require(!rows.empty() && !columns.empty(), "no rows or no columns");
  check_units(rows, trials, track);
  check_units(columns, trials, track);
  check_distinct(rows, trials, track);
  check_distinct(columns, trials, track);
  if (triangle) {
    require(rows == columns, "a triangle whose columns are not its rows");
    return;
  }
  const std::unordered_set<std::int32_t> known(rows.begin(), rows.end());
  for (const std::int32_t u : columns)
    require(!known.contains(u), fmt::format("{} is compared with itself", trials.unit_name(u)));
}

TrackSize size_of_all_pairs(std::span<const std::int32_t> rows,
                            std::span<const std::int32_t> columns, bool triangle) {
  std::unordered_map<std::int32_t, std::int64_t> of_person;
  for (const std::int32_t person : columns) ++of_person[person];
  const auto n = static_cast<std::int64_t>(rows.size());
  TrackSize size{n * static_cast<std::int64_t>(columns.size()), 0};
  for (const std::int32_t person : rows)
    if (const auto found = of_person.find(person); found != of_person.end())
      size.genuine += found->second;
  if (triangle) size = {(size.comparisons - n) / 2, (size.genuine - n) / 2};
  return size;
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

bool same_identity(const TrialSet& trials, const Comparison& c) {
  return trials.unit_identity(c.first) == trials.unit_identity(c.second);
}

LabelledScores labelled_scores(const Track& track, const TrialSet& trials,
                               std::span<const SampleStatus> unit_status, const TrackScores& scores,
                               bool drop) {
  const TrackKind& kind = kind_of(track);
  LabelledScores result;
  const std::int64_t n = score_count(scores);
  for (std::int64_t k = 0; k < n; ++k) {
    const auto sides = kind.sides(track, k);
    if (!sides || (drop && status_of(*sides, unit_status) != SampleStatus::ok)) continue;
    result.scores.push_back(score_at(scores, k));
    result.labels.push_back(kind.genuine(track, trials, k) ? 1 : 0);
  }
  return result;
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

void count_comparisons(const TrackData& data, bool drop, TrackResult& r) {
  const TrackKind& kind = kind_of(data.track);
  const std::int64_t n = score_count(data.scores);
  for (std::int64_t k = 0; k < n; ++k) {
    const auto sides = kind.sides(data.track, k);
    if (!sides) continue;
    const bool failed = status_of(*sides, data.status) != SampleStatus::ok;
    r.failed_comparisons += failed;
    if (failed && drop) {
      ++r.dropped;
      continue;
    }
    ++r.comparisons;
    r.genuine += kind.genuine(data.track, data.trials, k);
  }
  r.impostor = r.comparisons - r.genuine;
}

void count_all_pairs(const TrackSide& rows, const TrackSide& columns, bool triangle, bool drop,
                     TrackResult& r) {
  const auto enrolled = [](const TrackSide& side) {
    std::vector<std::int32_t> out;
    for (std::size_t i = 0; i < side.identity.size(); ++i)
      if (!side.left_out[i]) out.push_back(side.identity[i]);
    return out;
  };
  const TrackSize all = size_of_all_pairs(rows.identity, columns.identity, triangle);
  const TrackSize good = size_of_all_pairs(enrolled(rows), enrolled(columns), triangle);
  r.failed_comparisons = all.comparisons - good.comparisons;
  r.dropped = drop ? r.failed_comparisons : 0;
  r.comparisons = (drop ? good : all).comparisons;
  r.genuine = (drop ? good : all).genuine;
  r.impostor = r.comparisons - r.genuine;
}

void require_both_classes(const TrackData& data, const TrackResult& r) {
  if (r.genuine > 0 && r.impostor > 0) return;
  fail(fmt::format("protocol {}, track {}", data.spec.id, data.track.name),
       fmt::format("{} genuine and {} impostor comparisons are left of {}", r.genuine, r.impostor,
                   r.comparisons + r.dropped),
       "Both kinds are needed.");
}

}  // namespace facebench
