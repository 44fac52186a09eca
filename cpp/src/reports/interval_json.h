#pragma once

#include <cmath>

#include "facebench/io/json.h"
#include "facebench/metrics/interval.h"

// An interval of a report as JSON: null where there is none.
namespace facebench {

inline Json interval_json(const Interval& i) {
  return std::isnan(i.low)
             ? Json()
             : Json{{"low", i.low}, {"high", i.high}, {"level", i.level}, {"method", i.method}};
}

}  // namespace facebench
