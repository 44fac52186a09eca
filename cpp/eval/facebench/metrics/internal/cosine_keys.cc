#include "facebench/metrics/internal/cosine_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/metrics/comparisons.h"

namespace facebench {

void check_cosines(const Comparisons& comparisons, const char* kind,
                   const std::string& convention) {
  constexpr double slack = 1e-5;
  const auto scores = comparisons.scores();
  for (const std::size_t i : {std::size_t{0}, scores.size() - 1})
    if (std::abs(scores[i]) > 1 + slack)
      throw std::invalid_argument(
          fmt::format("{} convention '{}' needs cosines in [-1, 1]; score [{}] is {}", kind,
                      convention, comparisons.index()[i], scores[i]));
}

double negative_squared_distance(double cosine) { return std::min(2 * cosine - 2, 0.0); }

}  // namespace facebench
