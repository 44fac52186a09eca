#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/io/sample_status.h"
#include "facebench/protocols/trials.h"

namespace facebench {

// The units of one side of a track (rows or columns, probes or gallery), in their order: who each
// is, and whether it is left out (1).
struct TrackSide {
  std::vector<std::int32_t> identity;
  std::vector<std::uint8_t> left_out;
};

// `identity` and `status` are those of every unit; with `drop` those that failed are left out.
TrackSide track_side(std::span<const std::int32_t> identity, std::span<const std::int32_t> units,
                     std::span<const SampleStatus> status, bool drop);
inline TrackSide track_side(const TrialSet& trials, std::span<const std::int32_t> units,
                            std::span<const SampleStatus> status, bool drop) {
  return track_side(trials.unit_identities(), units, status, drop);
}

// Of the side of a comparison that failed, or ok. `status` as above.
SampleStatus status_of(const Comparison& c, std::span<const SampleStatus> status);

// The entries at these positions: the identities of units, say.
template <class T, class Position>
std::vector<T> pick(const std::vector<T>& values, const std::vector<Position>& positions) {
  std::vector<T> result;
  result.reserve(positions.size());
  for (const Position i : positions) result.push_back(values[static_cast<std::size_t>(i)]);
  return result;
}

}  // namespace facebench
