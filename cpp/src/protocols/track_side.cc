#include "facebench/protocols/track_side.h"

namespace facebench {

TrackSide track_side(std::span<const std::int32_t> identity, std::span<const std::int32_t> units,
                     std::span<const SampleStatus> status, bool drop) {
  TrackSide side;
  for (const std::int32_t u : units) {
    side.identity.push_back(identity[static_cast<std::size_t>(u)]);
    side.left_out.push_back(drop && status[static_cast<std::size_t>(u)] != SampleStatus::ok);
  }
  return side;
}

SampleStatus status_of(const Comparison& c, std::span<const SampleStatus> status) {
  const SampleStatus first = status[static_cast<std::size_t>(c.first)];
  return first != SampleStatus::ok ? first : status[static_cast<std::size_t>(c.second)];
}

}  // namespace facebench
