#include "facebench/evaluation/result.h"

#include "facebench/core/registry.h"

namespace facebench {

double TrackResult::failure_to_enrol_rate() const {
  const std::int64_t units = templates > 0 ? templates : samples;
  return units == 0 ? 0 : static_cast<double>(failed.size()) / static_cast<double>(units);
}

const Number& TrackResult::number(std::string_view name) const {
  return item_named("metric of this track", numbers, &Number::name, name);
}

const TrackResult& Result::track(std::string_view name) const {
  return item_named("track", tracks, &TrackResult::name, name);
}

}  // namespace facebench
