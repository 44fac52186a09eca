#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/protocols/evaluate.h"
#include "facebench/protocols/track_kind.h"
#include "facebench/protocols/track_side.h"

// The kinds of track, one source file each, and what they share.
namespace facebench {

TrackKind listed_kind();
TrackKind dense_kind();
TrackKind matrix_kind();
TrackKind identification_kind();
TrackKind all_pairs_kind();

// Throws std::out_of_range where a unit does not exist; `track` stands in the message.
void check_units(const std::vector<std::int32_t>& units, const TrialSet& trials,
                 const std::string& track);
// Throws std::invalid_argument where a unit is there twice.
void check_distinct(const std::vector<std::int32_t>& units, const TrialSet& trials,
                    const std::string& track);
// Throws std::invalid_argument for rows and columns that cannot be compared each with each.
void check_rows_and_columns(const std::vector<std::int32_t>& rows,
                            const std::vector<std::int32_t>& columns, bool triangle,
                            const TrialSet& trials, const std::string& track);
// Every row with every column, or each unordered pair once; given are identities.
TrackSize size_of_all_pairs(std::span<const std::int32_t> rows,
                            std::span<const std::int32_t> columns, bool triangle);
// Those of `list` that did not fail: positions there, embeddings one behind the other, identities.
struct EnrolledUnits {
  std::vector<std::int32_t> position;
  std::vector<float> values;
  std::vector<std::int32_t> identity;
};
EnrolledUnits enrolled_units(const UnitEmbeddings& units, std::span<const std::int32_t> list);

// Puts a block of scores where it belongs: its rows and columns are these of `scores`, which is
// `width` wide.
template <class T>
void place_scores(std::span<const T> block, std::span<const std::int32_t> rows,
                  std::span<const std::int32_t> columns, std::size_t width, std::span<T> scores) {
  auto next = block.begin();
  for (const std::int32_t row : rows)
    for (const std::int32_t column : columns)
      scores[static_cast<std::size_t>(row) * width + static_cast<std::size_t>(column)] = *next++;
}

// Each once, in order of first appearance.
std::vector<std::int32_t> distinct(std::vector<std::int32_t> units);

bool same_identity(const TrialSet& trials, const Comparison& c);

// Cosine of every row unit with every column unit, row-major, in [-1, 1], computed in double and
// rounded once; with `triangle` only the columns after the diagonal are computed, the others are 0.
// failed_score() where a side failed. The same bits for any number of threads.
template <class T>
std::vector<T> cosine_block(const UnitEmbeddings& units, std::span<const std::int32_t> rows,
                            std::span<const std::int32_t> columns, bool triangle, const Job& job);

// Fills the counts of comparisons of a track whose scores are comparisons of two units.
void count_comparisons(const TrackData& data, bool drop, TrackResult& result);

// The same of every row with every column, or of each unordered pair once, from the units alone.
// `left_out` of the sides: what failed.
void count_all_pairs(const TrackSide& rows, const TrackSide& columns, bool triangle, bool drop,
                     TrackResult& result);

// Adds the cells of searches, as which an identification track and a dense one can be seen: probes
// are rows, the gallery columns of the scores.
void measure_searches(const TrackData& data, const std::vector<std::int32_t>& probes,
                      const std::vector<std::int32_t>& gallery, TrackResult& result,
                      const Job& job);

// Throws Error where a class is empty.
void require_both_classes(const TrackData& data, const TrackResult& result);

template <class T>
void write_column(H5Writer& file, const std::string& name, const std::vector<T>& values) {
  file.write<T>(name, values, {static_cast<std::int64_t>(values.size())});
}

// Adds the cells of a track: each metric of the protocol that `measure`, a member of Metric, can
// compute from this kind's data. `intervals` makes one interval for each statistic; null = none.
// What the metrics refuse becomes an Error that names the track.
template <class Data, class Stat>
void measure_cells(const TrackData& track, const std::shared_ptr<const Data>& data,
                   Measure<Data, Stat> Metric::*measure,
                   const std::function<std::vector<Interval>(std::span<const Stat>)>& intervals,
                   TrackResult& result) {
  const std::string where = fmt::format("protocol {}, track {}", track.spec.id, track.track.name);
  const Convention& convention = conventions().at(*track.options.convention);
  std::vector<Stat> statistics;
  std::vector<bool> has_interval;
  const std::size_t before = result.cells.size();
  try {
    for (const MetricRequest& request : track.spec.metrics) {
      const Metric& metric = protocol_metrics().at(request.name);
      const Measure<Data, Stat>& how = metric.*measure;
      if (!how.cell) continue;  // of another kind of track
      const std::vector<double> once = {0.0};
      for (const double target : metric.takes_targets ? request.targets : once) {
        result.cells.push_back(how.cell(*data, target, convention));
        if (!intervals) continue;
        const std::size_t others = statistics.size();
        for (Stat& s : how.statistics(data, target, convention)) statistics.push_back(std::move(s));
        has_interval.push_back(statistics.size() > others);
      }
    }
  } catch (const std::invalid_argument& e) {
    // The metrics know nothing of protocols: what they refuse is here a property of the data.
    fail(where, e.what(), fmt::format("The convention is '{}'.", *track.options.convention));
  }
  if (!intervals || statistics.empty()) return;
  std::vector<Interval> made = intervals(statistics);
  auto next = made.begin();
  for (std::size_t c = before; c < result.cells.size(); ++c) {
    MetricCell& cell = result.cells[c];
    if (!has_interval[c - before]) continue;
    if (!cell.matrix)
      cell.interval = *next++;
    else
      for (std::size_t i = 0; i < cell.matrix->values.size(); ++i)
        cell.matrix->intervals.push_back(*next++);
  }
}

}  // namespace facebench
