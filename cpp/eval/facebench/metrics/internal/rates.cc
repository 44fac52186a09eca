#include "facebench/metrics/internal/rates.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace facebench {

std::vector<double> rates(std::span<const std::int64_t> counts, std::int64_t total) {
  std::vector<double> result(counts.size(), nan);
  if (total > 0)
    for (std::size_t i = 0; i < counts.size(); ++i) result[i] = ratio(counts[i], total);
  return result;
}

double half_level(double level) {
  if (!(level > 0 && level < 1))
    throw std::invalid_argument(fmt::format("level is {}; it must lie in (0, 1)", level));
  return (1 + level) / 2;
}

double rounded_bound(double bound) { return std::nearbyint(bound * 0x1p40) * 0x1p-40; }

}  // namespace facebench
