#pragma once

#include <cstdint>
#include <vector>

#include "facebench/synthetic/render/mesh.h"

namespace facebench::synthetic {

// What a material sees of its surface at one point of the image.
struct Fragment {
  float x, y, azimuth, occlusion, depth;
  Vec3 normal;  // unit length, towards the camera
};

// Which triangle of a mesh each sample of the image shows.
class Visibility {
 public:
  // Draws a projected mesh on width x height samples. `one_sided` drops what faces away.
  void draw(const Mesh& mesh, int width, int height, bool one_sided);

  int left() const { return left_; }
  int right() const { return right_; }  // the last column + 1
  int top() const { return top_; }
  int bottom() const { return bottom_; }
  bool covers(int x, int y) const {
    return x >= left_ && x < right_ && y >= top_ && y < bottom_ && triangle_[cell(x, y)] >= 0;
  }
  // Both require covers(x, y).
  float depth(int x, int y) const { return depth_[cell(x, y)]; }
  // The triangle seen at sample (x, y), looked up at the point (px, py), which may lie a little
  // outside of it.
  Fragment fragment(const Mesh& mesh, int x, int y, float px, float py) const;

 private:
  std::size_t cell(int x, int y) const {
    return static_cast<std::size_t>(y - top_) * (right_ - left_) + (x - left_);
  }
  void draw_triangle(const Vertex& a, const Vertex& b, const Vertex& c, std::int32_t id,
                     bool one_sided);

  int left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
  std::vector<float> depth_;
  std::vector<std::int32_t> triangle_;  // 2 * cell + half, -1 = nothing
};

}  // namespace facebench::synthetic
