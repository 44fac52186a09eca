#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

// Shares of counts, and the numbers around them.
namespace facebench {

struct Interval;

__extension__ typedef __int128 Wide;  // products of two counts stay exact

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}
// Each count over the total; NaN where the total is 0.
std::vector<double> rates(std::span<const std::int64_t> counts, std::int64_t total);

// (1 + level) / 2; throws std::invalid_argument unless level lies in (0, 1).
double half_level(double level);
// An interval's bound, to 2^-40.
double rounded_bound(double bound);

// wilson() of a share of any size, and of trials that need not be a whole number.
Interval wilson_of_share(double share, double trials, double level);

// Whether at least ten errors are expected; 0.01 * 1000 counts as 10 despite rounding.
inline bool enough_expected(double expected) { return expected >= 10 * (1 - 1e-12); }

}  // namespace facebench
