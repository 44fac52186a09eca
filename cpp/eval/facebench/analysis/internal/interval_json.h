#pragma once

#include <cmath>

#include "facebench/io/json.h"
#include "facebench/metrics/interval.h"

// An interval of a report as JSON: null where there is none.
namespace facebench {

inline Json interval_json(const Interval& i) {
  if (std::isnan(i.low)) return nullptr;
  Json json{{"low", i.low}, {"high", i.high}, {"level", i.level}, {"method", i.method}};
  if (!i.note.empty()) json["note"] = i.note;
  return json;
}

}  // namespace facebench
