#pragma once

#include <array>
#include <vector>

#include "facebench/synthetic/render/math.h"

namespace facebench::synthetic {

struct Vertex {
  Vec3 position, normal;
  float x = 0, y = 0;   // where the material is looked up: the smooth head's coordinates
  float azimuth = 0;    // around the head, 0 in front, +-pi behind
  float occlusion = 1;  // share of the ambient light that reaches the point
  bool shown = true;    // a cell of which no corner is shown is not drawn
  float screen_x = 0, screen_y = 0, depth = 0;  // after Camera::project, in samples
};

// A grid of vertices, rows from top to bottom, columns from the left of the image to the right.
struct Mesh {
  int columns = 0, rows = 0;
  std::vector<Vertex> vertices;

  Mesh() = default;
  Mesh(int columns, int rows) : columns(columns), rows(rows), vertices(columns * rows) {}
  Vertex& at(int row, int column) { return vertices[row * columns + column]; }
  const Vertex& at(int row, int column) const { return vertices[row * columns + column]; }
  // Outward normals from the positions of the neighbours.
  void compute_normals();
};

// The columns of a mesh around the head: azimuth t and, with x = w * across and z = middle + half *
// along, the rounded rectangle that a head's section is: sin and cos to the power 0.86.
struct AzimuthColumn {
  float azimuth, across, along;
};
// `reach` is the largest azimuth. With `crowded_front` the columns lie closer in front.
std::vector<AzimuthColumn> azimuth_columns(int count, double reach, bool crowded_front);

// A camera in front of the head, with perspective.
class Camera {
 public:
  // Angles in degrees; `scale` samples a unit, (x, y) the image of the head's origin, `pivot` the
  // point about which the head turns.
  Camera(double yaw, double pitch, double roll, float scale, float x, float y, Vec3 pivot);

  // Sets screen position and depth (larger = nearer) and turns the normals.
  void project(Mesh& mesh) const;
  void project(Vec3 position, float& screen_x, float& screen_y, float& depth) const;

 private:
  Vec3 turn(Vec3 p) const;

  std::array<float, 9> rotation_{};
  float scale_, x_, y_;
  Vec3 pivot_;
};

}  // namespace facebench::synthetic
