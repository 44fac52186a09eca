#pragma once

#include <cmath>
#include <cstdint>

namespace facebench::synthetic {

// Small vector arithmetic and the shaping functions of the renderer. Everything here uses +, -, *,
// / and sqrt only, which IEEE 754 rounds one way: pictures have the same bytes on every machine.

struct Vec3 {
  float x = 0, y = 0, z = 0;
};

inline Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3 operator*(Vec3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
inline Vec3 operator*(Vec3 a, Vec3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
inline float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec3 cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vec3 normalized(Vec3 a) { return a * (1.f / std::sqrt(dot(a, a) + 1e-12f)); }

inline float mix(float a, float b, float t) { return a + (b - a) * t; }
inline Vec3 mix(Vec3 a, Vec3 b, float t) { return a + (b - a) * t; }
inline float clamp(float x, float low, float high) { return x < low ? low : (x > high ? high : x); }
inline float square(float x) { return x * x; }
inline float absolute(float x) { return x < 0 ? -x : x; }

// 0 at `from`, 1 at `to` (which may be the smaller one), smooth between, constant outside.
inline float smoothstep(float from, float to, float x) {
  const float t = clamp((x - from) / (to - from), 0.f, 1.f);
  return t * t * (3.f - 2.f * t);
}

// exp(-q) for q >= 0 by (1 - q/64)^64: smooth, 0 beyond q = 12, six multiplications.
inline float decay(float q) {
  float y = q < 12.f ? 1.f - q * (1.f / 64) : 0.f;
  y *= y;
  y *= y;
  y *= y;
  y *= y;
  y *= y;
  return y * y;
}
// Gaussian bumps of height 1: of one variable, of two.
inline float bump(float d, float sigma) { return decay(0.5f * square(d / sigma)); }
inline float bump(float dx, float dy, float sx, float sy) {
  return decay(0.5f * (square(dx / sx) + square(dy / sy)));
}

// x^0.75, x^0.625 and x^0.5 for x >= 0.
inline float power_3_4(float x) {
  const float r = std::sqrt(x);
  return r * std::sqrt(r);
}
inline float power_5_8(float x) {
  const float r = std::sqrt(x);
  return r * std::sqrt(std::sqrt(r));
}
// x^(2^n) for x >= 0.
inline float power_of_two_power(float x, int n) {
  for (; n > 0; --n) x *= x;
  return x;
}

// The usual functions without the mathematical library, whose last bit differs between versions
// and processors. Errors below 1e-12 for the arguments that occur here.
double portable_sin(double x);
double portable_cos(double x);
double portable_exp(double x);
double portable_log(double x);                     // x > 0
double portable_power(double base, double power);  // base >= 0
// Angle of (x, y) in turns of pi, in (-1, 1], good to 0.005: for texture coordinates only.
float rough_angle(float y, float x);

}  // namespace facebench::synthetic
