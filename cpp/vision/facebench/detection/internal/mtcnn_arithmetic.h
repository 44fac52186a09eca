#pragma once

// Arithmetic of MTCNN that the processor and devices share, so that their answers are equal to the
// bit. No compiler here fuses a * b + c, except where std::fma says so.

#include <cmath>

#include "facebench/core/host_device.h"

namespace facebench {

// What each of the four combined rows of a 3 x 3 convolution is multiplied with (mtcnn_kernels.h),
// of the values of a kernel in its three rows.
inline float pair_weight(int part, float g0, float g1, float g2) {
  if (part >= 2) return part == 2 ? g0 : g2;
  const double outer = static_cast<double>(g0) + g2;
  return static_cast<float>((part == 0 ? outer + g1 : outer - g1) / 2);
}

// e^x for x <= 0, in double precision until it is rounded: std::exp is another one on each device.
FACEBENCH_HOST_DEVICE inline float shared_exp(float x) {
  if (x < -104) return 0;
  constexpr double log2_e = 1.4426950408889634;
  // ln 2 in two parts; k times the first is exact.
  constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  const double k = std::rint(x * log2_e);
  const double r = (x - k * ln2_high) - k * ln2_low;  // |r| <= ln 2 / 2
  double sum = 1;  // of r^i / i!; what is left out is below 1e-14
  for (int i = 11; i > 0; --i) sum = 1 + sum * r * (1. / i);
  return static_cast<float>(std::ldexp(sum, static_cast<int>(k)));
}

// The second of two softmax outputs.
FACEBENCH_HOST_DEVICE inline float face_probability(float no, float yes) {
  if (no > yes) {
    const float e = shared_exp(yes - no);
    return e / (1 + e);
  }
  return 1 / (shared_exp(no - yes) + 1);
}

// A bound for yes - no, slightly too low: below it the probability does not reach the threshold.
inline float least_difference(float threshold) {
  if (threshold > 0 && threshold < 1) return std::log(threshold / (1 - threshold)) - 0.01f;
  return threshold > 0 ? 1.f : -1e30f;
}

}  // namespace facebench
