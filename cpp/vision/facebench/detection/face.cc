#include "facebench/detection/face.h"

#include <algorithm>

namespace facebench {

double intersection_over_union(const Box& a, const Box& b) {
  const auto area = [](const Box& box) {
    return std::max(0.0, static_cast<double>(box.x1) - box.x0) *
           std::max(0.0, static_cast<double>(box.y1) - box.y0);
  };
  const double both = area(
      {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)});
  const double either = area(a) + area(b) - both;
  return either > 0 ? both / either : 0;
}

}  // namespace facebench
