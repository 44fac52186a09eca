#include "protocols/track_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/metrics/listed_pairs.h"

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
  // Positions in `list` of the units that did not fail, and their embeddings one behind the other.
  struct Enrolled {
    std::vector<std::size_t> position;
    std::vector<float> values;
  };
  const auto enrolled = [&](std::span<const std::int32_t> list) {
    Enrolled result;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (units.failed(list[i])) continue;
      result.position.push_back(i);
      const auto values = units.row(list[i]);
      result.values.insert(result.values.end(), values.begin(), values.end());
    }
    return result;
  };
  const Enrolled left = enrolled(rows);
  const Enrolled other = triangle ? Enrolled{} : enrolled(columns);
  const Enrolled& right = triangle ? left : other;

  const std::size_t m = columns.size();
  std::vector<T> scores(rows.size() * m, static_cast<T>(failed_score({})));
  // Some rows at a time: a triangle then computes little that it does not need.
  constexpr std::size_t strip = 1024;
  const auto dim = static_cast<std::size_t>(units.dim);
  const std::size_t strips = (left.position.size() + strip - 1) / strip;
  Stage stage(job, "score", static_cast<std::int64_t>(strips), "blocks");
  Job inner = job;
  inner.progress = nullptr;
  std::vector<T> block;
  for (std::size_t s = 0; s < strips && !right.position.empty(); ++s) {
    const std::size_t r0 = s * strip, height = std::min(strip, left.position.size() - r0);
    const std::size_t c0 = triangle ? r0 : 0, width = right.position.size() - c0;
    block.resize(height * width);
    const EmbeddingRows strip_rows(std::span(left.values).subspan(r0 * dim, height * dim),
                                   units.dim, inner);
    const EmbeddingRows strip_columns(std::span(right.values).subspan(c0 * dim), units.dim, inner);
    dense_scores(strip_rows, strip_columns, std::span(block), inner);
    for (std::size_t i = 0; i < height; ++i)
      for (std::size_t j = 0; j < width; ++j)
        scores[left.position[r0 + i] * m + right.position[c0 + j]] = block[i * width + j];
    stage.update(static_cast<std::int64_t>(s) + 1);
  }
  for (std::size_t row = 0; triangle && row < rows.size(); ++row)
    std::fill_n(scores.begin() + static_cast<std::ptrdiff_t>(row * m), row + 1, T(0));
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
