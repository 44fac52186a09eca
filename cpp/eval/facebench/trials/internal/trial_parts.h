#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/trials/measurable.h"
#include "facebench/trials/scoring.h"
#include "facebench/trials/trials.h"

// What the kinds of trials share.
namespace facebench {

// Throws std::out_of_range where a unit does not exist; `track` stands in the message.
void check_units(const std::vector<std::int32_t>& units, const TrialSet& trials,
                 const std::string& track);
// Throws std::invalid_argument where a unit is there twice.
void check_distinct(const std::vector<std::int32_t>& units, const TrialSet& trials,
                    const std::string& track);
// Throws std::invalid_argument for rows and columns that cannot be compared each with each, and
// with `distinct` for a unit that is there twice.
void check_rows_and_columns(const std::vector<std::int32_t>& rows,
                            const std::vector<std::int32_t>& columns, bool triangle, bool distinct,
                            const TrialSet& trials, const std::string& track);

// The units of one side of a track (rows or columns, probes or gallery), in their order: who each
// is, and whether it is left out (1).
struct TrackSide {
  std::vector<std::int32_t> identity;
  std::vector<std::uint8_t> left_out;
};
// `identity` and `left_out` are those of every unit; `left_out` empty = none is.
TrackSide track_side(std::span<const std::int32_t> identity, std::span<const std::int32_t> units,
                     std::span<const std::uint8_t> left_out);

// Every row with every column, or each unordered pair once, without what is left out.
TrialSize size_of_all_pairs(const TrackSide& rows, const TrackSide& columns, bool triangle);

// Throws std::invalid_argument where not each score of these trials was kept.
void require_each(const ScoredTrack& scored, const Trials& trials);
// Throws Error where a class is empty.
void require_both_classes(const ScoredTrack& scored, const Trials& trials);

// Each once, in order of first appearance.
std::vector<std::int32_t> distinct(std::vector<std::int32_t> units);
// The units of both, one behind the other.
std::vector<std::int32_t> joined(std::vector<std::int32_t> first,
                                 const std::vector<std::int32_t>& second);
// Whether `other` are the same units in the numbers of another set.
bool same_units(std::span<const std::int32_t> units, std::span<const std::int32_t> other,
                std::span<const std::int32_t> unit_of_other);

// The entries at these positions: the identities of units, say.
template <class T, class Position>
std::vector<T> at_positions(const std::vector<T>& values, const std::vector<Position>& positions) {
  std::vector<T> result;
  result.reserve(positions.size());
  for (const Position i : positions) result.push_back(values[static_cast<std::size_t>(i)]);
  return result;
}

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

// Cosine of every row unit with every column unit, row-major, in [-1, 1], computed in double and
// rounded once; with `triangle` only the columns after the diagonal are computed, the others are 0.
// failed_score() where a side failed. The same bits for any number of threads.
template <class T>
std::vector<T> cosine_block(const UnitEmbeddings& units, std::span<const std::int32_t> rows,
                            std::span<const std::int32_t> columns, bool triangle, const Job& job);

}  // namespace facebench
