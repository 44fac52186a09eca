#pragma once

#include <cstdint>
#include <string>

namespace facebench {

// A confidence interval, two-sided. The bounds are rounded to 2^-40, so that they do not show the
// last bits of one machine's exp and log.
struct Interval {
  double low = 0;
  double high = 0;
  double level = 0.95;
  std::string method;
  int replicates = 0;  // of a bootstrap
  int undefined = 0;   // replicates left out because the statistic is undefined
  // What the level does not say of it: one of the two below, or empty.
  std::string note;
};

inline constexpr const char* kAtLeast =
    "at least: few errors, or none, decide the interval, which holds the true value more often "
    "than "
    "its level says";
// Fewer people than kFewPeople (docs/metrics.md has the coverage).
inline constexpr int kFewPeople = 40;
inline constexpr const char* kNotOfFewPeople =
    "fewer than 40 people: the interval may hold the true value less often than its level says";
inline constexpr const char* kNotOfFewWhoCarry =
    "few people carry most of the comparisons, and they say no more than fewer than 40 with as "
    "many "
    "each: the interval may hold the true value less often than its level says";

// The standard normal quantile, p in (0, 1), to about 1e-15.
double normal_quantile(double p);

// Wilson's score interval for k successes in n independent trials (Wilson 1927). It ignores shared
// identities and the choice of a threshold on data: use it only for a fixed threshold and
// independent trials. Throws std::invalid_argument unless 0 <= k <= n, n > 0, level in (0, 1).
Interval wilson(std::int64_t k, std::int64_t n, double level = 0.95);

}  // namespace facebench
