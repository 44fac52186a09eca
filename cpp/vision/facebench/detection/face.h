#pragma once

#include <array>
#include <cstdint>
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

// Five points; the first three lie at the eye at the left, at the eye at the right, as seen in the
// image, and on the nose.
using Landmarks = std::array<Point, 5>;
enum class LandmarkKind : std::uint8_t {
  none,
  eyes_and_mouth,  // centres of the eyes, tip of the nose, left and right mouth corner
  eye_corners,     // outer corners of the eyes, base of the nose, left and right inner corner
  any              // whatever was put in
};

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
