#include "facebench/training/observation.h"

namespace facebench {

Json Observation::json() const {
  Json json = {{"norm_p05", number_or_null(norm_p05)},
               {"norm_p50", number_or_null(norm_p50)},
               {"norm_p95", number_or_null(norm_p95)},
               {"gradient_norm", number_or_null(gradient_norm)}};
  if (target_cosine) json["target_cosine"] = *target_cosine;
  if (violated) json["violated"] = *violated;
  return json;
}

}  // namespace facebench
