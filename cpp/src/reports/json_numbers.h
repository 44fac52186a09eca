#pragma once

#include <cmath>
#include <optional>

#include "facebench/io/json.h"
#include "facebench/metrics/interval.h"

// Numbers of reports as JSON: null where there is none.
namespace facebench {

inline Json number_json(double x) { return std::isfinite(x) ? Json(x) : Json(); }
inline Json number_json(const std::optional<double>& x) { return x ? number_json(*x) : Json(); }

inline Json interval_json(const Interval& i) {
  return std::isnan(i.low)
             ? Json()
             : Json{{"low", i.low}, {"high", i.high}, {"level", i.level}, {"method", i.method}};
}

}  // namespace facebench
