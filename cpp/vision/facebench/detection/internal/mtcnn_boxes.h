#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "facebench/core/host_device.h"

namespace facebench {

// The box arithmetic of MTCNN, in the precision T that a mode asks for. Each expression keeps the
// order of its reference, since boxes are compared with thresholds and truncated to whole pixels.
template <class T>
struct Candidate {
  T x0, y0, x1, y1;
  float score;
  float correction[4];
  float landmarks[10];

  // Only damaged weights give boxes further out; whole pixels must fit an int.
  FACEBENCH_HOST_DEVICE bool within(T limit) const {
    return x0 >= -limit && y0 >= -limit && x1 <= limit && y1 <= limit && x0 <= limit &&
           y0 <= limit && x1 >= -limit && y1 >= -limit;
  }
};

struct NmsRule {
  double threshold;    // overlap above it suppresses
  bool of_smaller;     // overlap = intersection / smaller area, else / union
  bool plus_one;       // sides are x1 - x0 + 1
  bool last_of_equal;  // of equal scores the last goes first, else the first
};

// Overlaps have the precision T: above the threshold is above its neighbour below in T.
template <class T>
T overlap_limit(double threshold) {
  const T limit = static_cast<T>(threshold);
  return limit > threshold ? std::nextafter(limit, T{0}) : limit;
}

// Keeps the best box of each heap, best first.
template <class T>
std::vector<Candidate<T>> suppress(const std::vector<Candidate<T>>& boxes, const NmsRule& rule) {
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (rule.last_of_equal) std::reverse(order.begin(), order.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return boxes[a].score > boxes[b].score; });
  const T extra = rule.plus_one ? 1 : 0;
  // The sides in separate arrays, so that the compiler can compare one box with several at once.
  const std::size_t n = boxes.size();
  std::vector<T> sides(5 * n);
  T *x0 = sides.data(), *y0 = x0 + n, *x1 = y0 + n, *y1 = x1 + n, *area = y1 + n;
  for (std::size_t i = 0; i < n; ++i) {
    const Candidate<T>& c = boxes[order[i]];
    x0[i] = c.x0;
    y0[i] = c.y0;
    x1[i] = c.x1;
    y1[i] = c.y1;
    area[i] = (c.x1 - c.x0 + extra) * (c.y1 - c.y0 + extra);
  }
  const T limit = overlap_limit<T>(rule.threshold);
  std::vector<Candidate<T>> kept;
  std::vector<T> gone(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (gone[i] != 0) continue;
    kept.push_back(boxes[order[i]]);
    const T left = x0[i], top = y0[i], right = x1[i], bottom = y1[i], size = area[i];
    for (std::size_t j = i + 1; j < n; ++j) {
      const T w = std::max(T{0}, std::min(right, x1[j]) - std::max(left, x0[j]) + extra);
      const T h = std::max(T{0}, std::min(bottom, y1[j]) - std::max(top, y0[j]) + extra);
      const T both = w * h;
      const T whole = rule.of_smaller ? std::min(size, area[j]) : size + area[j] - both;
      gone[j] = both / whole > limit ? T{1} : gone[j];
    }
  }
  return kept;
}

// P-Net's corrections are shares of the side; those of the later networks of the side + 1.
template <class T>
FACEBENCH_HOST_DEVICE void apply_correction(Candidate<T>& c, T extra) {
  const T w = c.x1 - c.x0 + extra, h = c.y1 - c.y0 + extra;
  c.x0 = c.x0 + static_cast<T>(c.correction[0]) * w;
  c.y0 = c.y0 + static_cast<T>(c.correction[1]) * h;
  c.x1 = c.x1 + static_cast<T>(c.correction[2]) * w;
  c.y1 = c.y1 + static_cast<T>(c.correction[3]) * h;
}

// The square around the same centre with the longer side.
template <class T>
FACEBENCH_HOST_DEVICE void make_square(Candidate<T>& c, bool round_toward_zero) {
  const T w = c.x1 - c.x0, h = c.y1 - c.y0;
  const T side = w < h ? h : w;
  c.x0 = c.x0 + w * T(0.5) - side * T(0.5);
  c.y0 = c.y0 + h * T(0.5) - side * T(0.5);
  c.x1 = c.x0 + side;
  c.y1 = c.y0 + side;
  if (!round_toward_zero) return;
  c.x0 = std::trunc(c.x0);
  c.y0 = std::trunc(c.y0);
  c.x1 = std::trunc(c.x1);
  c.y1 = std::trunc(c.y1);
}

}  // namespace facebench
