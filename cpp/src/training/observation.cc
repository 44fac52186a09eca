#include "facebench/training/observation.h"

#include <cmath>

namespace facebench {

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json Observation::json() const {
  Json json = {{"norm_p05", finite_or_null(norm_p05)},
               {"norm_p50", finite_or_null(norm_p50)},
               {"norm_p95", finite_or_null(norm_p95)},
               {"gradient_norm", finite_or_null(gradient_norm)}};
  if (target_cosine) json["target_cosine"] = *target_cosine;
  if (violated) json["violated"] = *violated;
  return json;
}

}  // namespace facebench
