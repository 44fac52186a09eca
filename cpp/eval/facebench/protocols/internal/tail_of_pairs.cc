#include "facebench/protocols/internal/tail_of_pairs.h"

#include <algorithm>
#include <unordered_map>

#include "facebench/metrics/all_pairs.h"

namespace facebench {
namespace {

// So fine that the metrics which need all scores are known to three digits or more.
constexpr std::int64_t kBins = 8192;

std::int64_t impostors(const TrialSize& size) { return size.comparisons - size.genuine; }

// Adds the genuine comparisons with a failed side, which have the lowest score.
void add_failed_genuine(const UnitEmbeddings& units, std::span<const std::int32_t> rows,
                        std::span<const std::int32_t> columns, bool triangle, ScoreTail& tail) {
  std::unordered_map<std::int32_t, std::vector<std::size_t>> columns_of;
  for (std::size_t c = 0; c < columns.size(); ++c)
    columns_of[units.identity[static_cast<std::size_t>(columns[c])]].push_back(c);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto of_person = columns_of.find(units.identity[static_cast<std::size_t>(rows[r])]);
    if (of_person == columns_of.end()) continue;
    for (const std::size_t c : of_person->second) {
      if (triangle && c <= r) continue;
      if (!units.failed(rows[r]) && !units.failed(columns[c])) continue;
      tail.genuine.push_back(failed_score({}));
      tail.genuine_row.push_back(static_cast<std::int32_t>(r));
      tail.genuine_column.push_back(static_cast<std::int32_t>(c));
      ++tail.histogram.genuine.front();
    }
  }
}

}  // namespace

Scores tail_of_pairs(const UnitEmbeddings& units, std::span<const std::int32_t> rows,
                     std::span<const std::int32_t> columns, bool triangle, double far,
                     const Job& job) {
  const EnrolledUnits left = enrolled_units(units, rows);
  const EnrolledUnits other = triangle ? EnrolledUnits{} : enrolled_units(units, columns);
  const EnrolledUnits& right = triangle ? left : other;
  const std::vector<std::uint8_t> failed = failed_units(units.status);
  const auto side = [&](std::span<const std::int32_t> list,
                        std::span<const std::uint8_t> left_out) {
    return track_side(units.identity, list, left_out);
  };
  const TrialSize enrolled = size_of_all_pairs(side(rows, failed), side(columns, failed), triangle);
  const std::int64_t all =
      impostors(size_of_all_pairs(side(rows, {}), side(columns, {}), triangle));
  ScoreTail tail;
  tail.histogram = {{-1, 1}, {0}, {0}};
  if (enrolled.comparisons > 0) {
    AllPairsOptions options;
    options.bins = kBins;
    // The FAR is one of all comparisons, those that failed among them.
    options.far =
        std::min(1.0, far * static_cast<double>(all) /
                          static_cast<double>(std::max<std::int64_t>(impostors(enrolled), 1)));
    const EmbeddingRows left_rows(left.values, units.dim, job);
    if (triangle)
      tail = all_pairs(left_rows, left.identity, options, job);
    else
      tail = all_pairs(left_rows, left.identity, EmbeddingRows(right.values, units.dim, job),
                       right.identity, options, job);
  }
  const auto to_positions = [](std::vector<std::int32_t>& at, const EnrolledUnits& from) {
    for (std::int32_t& i : at) i = from.position[static_cast<std::size_t>(i)];
  };
  to_positions(tail.genuine_row, left);
  to_positions(tail.impostor_row, left);
  to_positions(tail.genuine_column, right);
  to_positions(tail.impostor_column, right);
  add_failed_genuine(units, rows, columns, triangle, tail);
  tail.histogram.impostor.front() += all - tail.impostor_count;
  tail.impostor_count = all;
  return Scores::of_tail(std::move(tail), far);
}

ScoreTail without_left_out(const ScoreTail& tail, const TrackSide& rows, const TrackSide& columns,
                           std::int64_t impostors) {
  ScoreTail kept = tail;
  kept.genuine.clear();
  kept.genuine_row.clear();
  kept.genuine_column.clear();
  for (std::size_t k = 0; k < tail.genuine.size(); ++k) {
    const std::int32_t r = tail.genuine_row[k], c = tail.genuine_column[k];
    if (rows.left_out[static_cast<std::size_t>(r)] || columns.left_out[static_cast<std::size_t>(c)])
      continue;
    kept.genuine.push_back(tail.genuine[k]);
    kept.genuine_row.push_back(r);
    kept.genuine_column.push_back(c);
  }
  // They were counted in the lowest bin.
  kept.histogram.impostor.front() -= tail.impostor_count - impostors;
  kept.histogram.genuine.front() -=
      static_cast<std::int64_t>(tail.genuine.size() - kept.genuine.size());
  kept.impostor_count = impostors;
  return kept;
}

}  // namespace facebench
