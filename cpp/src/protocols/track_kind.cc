#include "protocols/track_kinds.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <stdexcept>
#include <unordered_set>

namespace facebench {

const Table<TrackKind>& track_kinds() {
  static const Table<TrackKind> table(
      "kind of track", {listed_kind(), dense_kind(), matrix_kind(), identification_kind()});
  return table;
}

const TrackKind& kind_of(const Track& track) {
  return track_kinds().entries()[track.trials.index()];
}

std::int64_t score_count(const TrackScores& scores) {
  return std::visit([](const auto& s) { return static_cast<std::int64_t>(s.size()); }, scores);
}

double score_at(const TrackScores& scores, std::int64_t k) {
  return std::visit(
      [k](const auto& s) { return static_cast<double>(s[static_cast<std::size_t>(k)]); }, scores);
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

std::vector<std::int32_t> distinct(std::vector<std::int32_t> units) {
  std::unordered_set<std::int32_t> seen;
  std::erase_if(units, [&](std::int32_t u) { return !seen.insert(u).second; });
  return units;
}

bool same_identity(const TrialSet& trials, const Comparison& c) {
  return trials.unit_identity(c.first) == trials.unit_identity(c.second);
}

SampleStatus status_of(const Comparison& c, std::span<const SampleStatus> unit_status) {
  const SampleStatus first = unit_status[static_cast<std::size_t>(c.first)];
  return first != SampleStatus::ok ? first : unit_status[static_cast<std::size_t>(c.second)];
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
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  constexpr std::int64_t row_tile = 64, column_tile = 512, depth = 128;
  const auto n = static_cast<std::int64_t>(rows.size());
  const auto m = static_cast<std::int64_t>(columns.size());
  const auto unit_rows = [&](std::span<const std::int32_t> wanted) {
    Matrix result(static_cast<std::int64_t>(wanted.size()), units.dim);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double length = units.length[static_cast<std::size_t>(wanted[i])];
      const auto values = units.row(wanted[i]);
      for (std::int64_t k = 0; k < units.dim; ++k)
        result(static_cast<std::int64_t>(i), k) =
            length == 0 ? 0 : values[static_cast<std::size_t>(k)] / length;
    }
    return result;
  };
  const Matrix left = unit_rows(rows);
  const Matrix other = triangle ? Matrix() : unit_rows(columns);
  const Matrix& right = triangle ? left : other;
  const auto failed = [&](std::int32_t unit) {
    return units.status[static_cast<std::size_t>(unit)] != SampleStatus::ok;
  };

  std::vector<T> scores(static_cast<std::size_t>(n * m), T(0));
  const std::int64_t row_tiles = (n + row_tile - 1) / row_tile;
  Stage stage(job, "score", row_tiles, "blocks");
  parallel_for(
      row_tiles, job,
      [&](std::int64_t tile, int) {
        const std::int64_t r = tile * row_tile, height = std::min(row_tile, n - r);
        for (std::int64_t c = 0; c < m; c += column_tile) {
          const std::int64_t width = std::min(column_tile, m - c);
          if (triangle && c + width <= r) continue;
          // One thread and one order of summation an element: short depths, added up one after the
          // other, so that no library's choice of blocks shows in the last bit.
          Matrix sum = Matrix::Zero(height, width);
          for (std::int64_t k = 0; k < units.dim; k += depth) {
            const std::int64_t d = std::min(depth, units.dim - k);
            sum.noalias() += left.block(r, k, height, d) * right.block(c, k, width, d).transpose();
          }
          for (std::int64_t i = 0; i < height; ++i)
            for (std::int64_t j = 0; j < width; ++j) {
              const auto row = static_cast<std::size_t>(r + i),
                         column = static_cast<std::size_t>(c + j);
              if (triangle && column <= row) continue;
              const bool bad = failed(rows[row]) || failed(columns[column]);
              scores[row * static_cast<std::size_t>(m) + column] =
                  static_cast<T>(bad ? failed_score({}) : std::clamp(sum(i, j), -1.0, 1.0));
            }
        }
      },
      &stage);
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

void require_both_classes(const TrackData& data, const TrackResult& r) {
  if (r.genuine > 0 && r.impostor > 0) return;
  fail(fmt::format("protocol {}, track {}", data.spec.id, data.track.name),
       fmt::format("{} genuine and {} impostor comparisons are left of {}", r.genuine, r.impostor,
                   r.comparisons + r.dropped),
       "Both kinds are needed.");
}

}  // namespace facebench
