#pragma once

#include "facebench/core/random.h"
#include "facebench/synthetic/nuisance.h"

namespace facebench {

inline FaceNuisance photo(std::string_view kind, std::uint64_t number) {
  Random random(1, "test", {number});
  return make_nuisance(kind, random);
}

}  // namespace facebench
