#include "facebench/synthetic/render/raster.h"

#include <algorithm>
#include <array>

namespace facebench::synthetic {
namespace {

// std::floor and std::ceil are calls on the plain instruction set.
int floor_of(float v) {
  const int i = static_cast<int>(v);
  return i - (v < static_cast<float>(i));
}
int ceil_of(float v) { return -floor_of(-v); }

struct Triangle {
  const Vertex *a, *b, *c;
};
Triangle corners(const Mesh& mesh, std::int32_t id) {
  const int cell = id >> 1, row = cell / (mesh.columns - 1), column = cell % (mesh.columns - 1);
  const Vertex* top = &mesh.at(row, column);
  const Vertex* below = top + mesh.columns;
  return id & 1 ? Triangle{top + 1, below + 1, below} : Triangle{top, top + 1, below};
}

float min3(float a, float b, float c) { return std::min(a, std::min(b, c)); }
float max3(float a, float b, float c) { return std::max(a, std::max(b, c)); }

}  // namespace

void Visibility::draw_triangle(const Vertex& a, const Vertex& b, const Vertex& c, std::int32_t id,
                               bool one_sided) {
  const float abx = b.screen_x - a.screen_x, aby = b.screen_y - a.screen_y;
  const float acx = c.screen_x - a.screen_x, acy = c.screen_y - a.screen_y;
  const float area = abx * acy - acx * aby;
  if (one_sided ? area < 1e-6f : absolute(area) < 1e-6f) return;
  const int x0 = std::max(left_, ceil_of(min3(a.screen_x, b.screen_x, c.screen_x) - .5f));
  const int x1 = std::min(right_ - 1, floor_of(max3(a.screen_x, b.screen_x, c.screen_x) - .5f));
  const int y0 = std::max(top_, ceil_of(min3(a.screen_y, b.screen_y, c.screen_y) - .5f));
  const int y1 = std::min(bottom_ - 1, floor_of(max3(a.screen_y, b.screen_y, c.screen_y) - .5f));
  if (x0 > x1 || y0 > y1) return;
  // A little more than the triangle, so that no crack opens between neighbours.
  constexpr float slack = -1e-4f;
  const float inverse = 1 / area;
  const float b_dx = acy * inverse, b_dy = -acx * inverse;
  const float c_dx = -aby * inverse, c_dy = abx * inverse;
  const float depth_b = b.depth - a.depth, depth_c = c.depth - a.depth;
  for (int y = y0; y <= y1; ++y) {
    const float py = static_cast<float>(y) + .5f - a.screen_y;
    for (int x = x0; x <= x1; ++x) {
      const float px = static_cast<float>(x) + .5f - a.screen_x;
      const float wb = px * b_dx + py * b_dy, wc = px * c_dx + py * c_dy;
      if (wb < slack || wc < slack || 1 - wb - wc < slack) continue;
      const float depth = a.depth + wb * depth_b + wc * depth_c;
      const std::size_t i = cell(x, y);
      if (triangle_[i] >= 0 && depth_[i] >= depth) continue;
      depth_[i] = depth;
      triangle_[i] = id;
    }
  }
}

void Visibility::draw(const Mesh& mesh, int width, int height, bool one_sided) {
  float x0 = 1e9f, y0 = 1e9f, x1 = -1e9f, y1 = -1e9f;
  for (const Vertex& v : mesh.vertices) {
    x0 = std::min(x0, v.screen_x);
    x1 = std::max(x1, v.screen_x);
    y0 = std::min(y0, v.screen_y);
    y1 = std::max(y1, v.screen_y);
  }
  const auto inside = [](float v, int limit) {
    return static_cast<int>(clamp(v, 0, static_cast<float>(limit)));
  };
  left_ = inside(x0 - 1, width);
  right_ = inside(x1 + 2, width);
  top_ = inside(y0 - 1, height);
  bottom_ = inside(y1 + 2, height);
  const std::size_t cells = static_cast<std::size_t>(right_ - left_) * (bottom_ - top_);
  depth_.resize(cells);
  triangle_.assign(cells, -1);
  if (cells == 0) return;
  for (int j = 0; j + 1 < mesh.rows; ++j)
    for (int i = 0; i + 1 < mesh.columns; ++i) {
      const Vertex* top = &mesh.at(j, i);
      const Vertex* below = top + mesh.columns;
      if (!(top[0].shown || top[1].shown || below[0].shown || below[1].shown)) continue;
      const std::int32_t id = 2 * (j * (mesh.columns - 1) + i);
      draw_triangle(top[0], top[1], below[0], id, one_sided);
      draw_triangle(top[1], below[1], below[0], id + 1, one_sided);
    }
}

Fragment Visibility::fragment(const Mesh& mesh, int x, int y, float px, float py) const {
  const auto [a, b, c] = corners(mesh, triangle_[cell(x, y)]);
  const float abx = b->screen_x - a->screen_x, aby = b->screen_y - a->screen_y;
  const float acx = c->screen_x - a->screen_x, acy = c->screen_y - a->screen_y;
  const float area = abx * acy - acx * aby, inverse = 1 / area;
  const float dx = px - a->screen_x, dy = py - a->screen_y;
  // A sliver seen edge-on would extrapolate to anywhere.
  const float wb = clamp((dx * acy - acx * dy) * inverse, -1, 2);
  const float wc = clamp((abx * dy - dx * aby) * inverse, -1, 2);
  const float wa = 1 - wb - wc;
  Vec3 normal = a->normal * wa + b->normal * wb + c->normal * wc;
  if (area < 0) normal = normal * -1.f;
  return {a->x * wa + b->x * wb + c->x * wc,
          a->y * wa + b->y * wb + c->y * wc,
          a->azimuth * wa + b->azimuth * wb + c->azimuth * wc,
          a->occlusion * wa + b->occlusion * wb + c->occlusion * wc,
          a->depth * wa + b->depth * wb + c->depth * wc,
          normalized(normal)};
}

}  // namespace facebench::synthetic
