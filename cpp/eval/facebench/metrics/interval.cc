#include "facebench/metrics/interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "facebench/metrics/internal/rates.h"

namespace facebench {

double normal_quantile(double p) {
  if (!(p > 0 && p < 1))
    throw std::invalid_argument(fmt::format("p is {}; it must lie in (0, 1)", p));
  if (p == 0.5) return 0;
  const double tail = std::min(p, 1 - p);
  // Newton's method on the upper tail, which is convex: from 0 it rises to the root and never past.
  double z = 0;
  for (int i = 0; i < 1000; ++i) {  // about z^2 / 2 steps
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double step = (std::erfc(z / std::numbers::sqrt2) / 2 - tail) / density;
    z += step;
    if (std::abs(step) <= 1e-15 * z) break;
  }
  return p < 0.5 ? -z : z;
}

namespace {

Interval wilson_of(double k, double n, double level) {
  const double z = normal_quantile(half_level(level));
  const double centre = k + z * z / 2;
  const double half = z * std::sqrt(k * (n - k) / n + z * z / 4);
  Interval result;
  result.low = k == 0 ? 0 : rounded_bound((centre - half) / (n + z * z));
  result.high = k == n ? 1 : rounded_bound((centre + half) / (n + z * z));
  result.level = level;
  result.method = "wilson";
  return result;
}

}  // namespace

Interval wilson(std::int64_t k, std::int64_t n, double level) {
  half_level(level);
  if (n <= 0 || k < 0 || k > n)
    throw std::invalid_argument(fmt::format("{} successes in {} trials", k, n));
  return wilson_of(static_cast<double>(k), static_cast<double>(n), level);
}

Interval wilson_of_share(double share, double trials, double level) {
  return wilson_of(share * trials, trials, level);
}

}  // namespace facebench
