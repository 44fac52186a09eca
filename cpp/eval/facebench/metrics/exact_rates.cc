#include "facebench/metrics/internal/exact_rates.h"

#include <algorithm>
#include <cmath>

#include "facebench/metrics/internal/measures.h"

// Exact probabilities of few trials.
namespace facebench {
namespace {

// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  const auto away_from_0 = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / away_from_0(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_0(1 + even * d);
    c = away_from_0(1 + even / c);
    fraction *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_0(1 + odd * d);
    c = away_from_0(1 + odd / c);
    fraction *= c * d;
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return fraction;
}

}  // namespace

double beta_share(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                   : 1 - front * beta_fraction(1 - x, b, a) / b;
}

double beta_quantile(double p, double a, double b) {
  double low = 0, high = 1;
  // Down to 2^-50 of 1, which is far below the step of a bound.
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (beta_share(middle, a, b) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double student_p_value(double t, double freedom) {
  return beta_share(freedom / (freedom + t * t), freedom / 2, 0.5);
}

double student_bound(double p, double freedom) {
  const double x = beta_quantile(2 * (1 - p), freedom / 2, 0.5);
  return std::sqrt(freedom * (1 - x) / x);
}

Interval clopper_pearson(double k, double n, double level) {
  const double tail = 1 - half_level(level);
  Interval result;
  result.level = level;
  result.method = "clopper_pearson";
  result.low = k > 0 ? rounded_bound(beta_quantile(tail, k, n - k + 1)) : 0;
  result.high = k < n ? rounded_bound(beta_quantile(1 - tail, k + 1, n - k)) : 1;
  return result;
}

double sign_test(double k, double n) {
  return k >= n ? std::min(1.0, 2 * std::exp2(-n))
                : std::min(1.0, 2 * beta_share(0.5, k, n - k + 1));
}

}  // namespace facebench
