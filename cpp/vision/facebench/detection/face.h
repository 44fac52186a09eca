#pragma once

#include <array>
#include <string>
#include <vector>

namespace facebench {

// Pixels of the image, x right, y down. Boxes may reach beyond the image. MTCNN's numbers are
// exactly those that its reference returns (docs/detection.md states each mode's offset).
struct Point {
  float x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

struct Box {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float width() const { return x1 - x0; }
  float height() const { return y1 - y0; }
  bool operator==(const Box&) const = default;
};

// Left eye, right eye, nose, left and right mouth corner, as seen in the image.
using Landmarks = std::array<Point, 5>;

struct Face {
  Box box;
  float score = 1;  // 0 to 1 for MTCNN; HOG's is its distance from the decision, without bounds
  bool has_landmarks = false;
  Landmarks landmarks{};
  bool operator==(const Face&) const = default;
};

// Intersection over union of two boxes as areas of the plane; 0 where either is empty.
double intersection_over_union(const Box& a, const Box& b);

}  // namespace facebench
