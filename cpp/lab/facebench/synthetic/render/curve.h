#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

namespace facebench::synthetic {

// A smooth curve through knots (cubic Hermite, slopes from the neighbouring knots), constant
// outside. Knots are given with rising x.
class Curve {
 public:
  Curve() = default;
  Curve(std::initializer_list<std::pair<float, float>> knots) : knots_(knots) {
    const std::size_t n = knots_.size();
    slopes_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto& before = knots_[i == 0 ? 0 : i - 1];
      const auto& after = knots_[std::min(n - 1, i + 1)];
      slopes_[i] = (after.second - before.second) / (after.first - before.first);
    }
  }

  float operator()(float x) const {
    if (x <= knots_.front().first) return knots_.front().second;
    if (x >= knots_.back().first) return knots_.back().second;
    std::size_t i = 0;
    while (x > knots_[i + 1].first) ++i;
    const float h = knots_[i + 1].first - knots_[i].first, t = (x - knots_[i].first) / h;
    const float t2 = t * t, t3 = t2 * t;
    return (2 * t3 - 3 * t2 + 1) * knots_[i].second + (t3 - 2 * t2 + t) * h * slopes_[i] +
           (-2 * t3 + 3 * t2) * knots_[i + 1].second + (t3 - t2) * h * slopes_[i + 1];
  }

 private:
  std::vector<std::pair<float, float>> knots_;
  std::vector<float> slopes_;
};

}  // namespace facebench::synthetic
