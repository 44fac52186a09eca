#include "facebench/synthetic/render/math.h"

#include <numbers>

namespace facebench::synthetic {
namespace {

// Taylor series on |r| <= pi/4.
double sin_series(double r) {
  const double q = r * r;
  double s = 0;
  for (int k = 19; k >= 3; k -= 2) s = -q / (k * (k - 1)) * (1.0 + s);
  return r * (1.0 + s);
}
double cos_series(double r) {
  const double q = r * r;
  double s = 0;
  for (int k = 18; k >= 2; k -= 2) s = -q / (k * (k - 1)) * (1.0 + s);
  return 1.0 + s;
}

}  // namespace

double portable_sin(double x) {
  const double turns = std::floor(x * (2 / std::numbers::pi) + 0.5);
  const double r = x - turns * (std::numbers::pi / 2);
  switch (static_cast<std::int64_t>(turns) & 3) {
    case 0:
      return sin_series(r);
    case 1:
      return cos_series(r);
    case 2:
      return -sin_series(r);
    default:
      return -cos_series(r);
  }
}

double portable_cos(double x) { return portable_sin(x + std::numbers::pi / 2); }

double portable_exp(double x) {
  if (x < -700) return 0;
  const double k = std::floor(x * std::numbers::log2e + 0.5);
  const double r = x - k * std::numbers::ln2;
  double s = 1;
  for (int i = 14; i >= 1; --i) s = 1 + r / i * s;
  return std::ldexp(s, static_cast<int>(k));
}

double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [0.5, 1)
  if (m < std::numbers::sqrt2 / 2) {
    m *= 2;
    --exponent;
  }
  // log m = 2 atanh((m - 1) / (m + 1))
  const double u = (m - 1) / (m + 1), q = u * u;
  double s = 0;
  for (int k = 19; k >= 1; k -= 2) s = 1.0 / k + q * s;
  return 2 * u * s + exponent * std::numbers::ln2;
}

double portable_power(double base, double power) {
  return base <= 0 ? 0 : portable_exp(power * portable_log(base));
}

float rough_angle(float y, float x) {
  const float ax = absolute(x), ay = absolute(y);
  const float big = ax > ay ? ax : ay, small = ax > ay ? ay : ax;
  if (big == 0) return 0;
  const float q = small / big;
  float a = q * (0.25f + 0.087f * (1 - q));
  if (ay > ax) a = 0.5f - a;
  if (x < 0) a = 1 - a;
  return y < 0 ? -a : a;
}

}  // namespace facebench::synthetic
