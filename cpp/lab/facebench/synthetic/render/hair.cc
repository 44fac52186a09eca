#include <algorithm>
#include <numbers>

#include "facebench/core/random.h"
#include "facebench/synthetic/render/surface.h"

namespace facebench::synthetic {
namespace {

// A shell around the skull, `lift` above the skin, cut off along an edge given per azimuth.
// Cells well below the edge are not drawn.
template <class Edge>
Mesh skull_shell(const FaceShape& f, int size, float lift, float lowest, Edge edge) {
  const int rows = std::max(41, mesh_rows(size) * 6 / 10), columns = rows + 9;
  Mesh mesh(columns, rows);
  const auto around = azimuth_columns(columns, std::numbers::pi, false);
  const bool curtain = f.long_hair();
  for (int j = 0; j < rows; ++j) {
    const float y =
        -f.top + (lowest + f.top) * static_cast<float>(j) / static_cast<float>(rows - 1);
    const float on_head = std::min(y, curtain ? .0f : .9f);
    float w = f.half_width(on_head), front = f.front(on_head), back = f.back(on_head);
    if (curtain && y > 0) {
      const float fall = smoothstep(0, 1.2f, y);
      w += .10f * fall;
      back = mix(back, -1.25f, fall);
      front = mix(front, .45f, fall);
    }
    const float middle = .5f * (front + back), half = .5f * (front - back);
    const float upper = smoothstep(-.6f, -1.5f, y);
    for (int i = 0; i < columns; ++i) {
      const float t = around[i].azimuth, below = edge(absolute(t)) - y;
      const float thick = lift + .02f +
                          f.hair_volume * smoothstep(.02f, .40f, below) * (1 + .35f * upper) +
                          .015f * f.coarse_noise(t * 9, y * 3);
      Vertex& v = mesh.at(j, i);
      v.position = {(w + thick) * around[i].across, y - thick * 1.15f * upper,
                    middle + (half + thick) * around[i].along};
      v.x = v.position.x;
      v.y = y;
      v.azimuth = t;
      v.shown = below > -.15f;
    }
  }
  mesh.compute_normals();
  return mesh;
}

class Hair : public Surface {
 public:
  Hair(const FaceShape& face, int size) : face_(face) {
    const float lowest = (face.long_hair() ? 1.0f + face.hair_length : .95f) + .1f;
    mesh = skull_shell(face, size, 0, lowest, [&](float t) { return face.hair_edge(t); });
    one_sided = false;
  }

  Material shade(const Fragment& at) const override {
    const FaceShape& f = face_;
    const float t = at.azimuth, inside = f.hair_edge(absolute(t)) - at.y;
    Material m;
    m.alpha = smoothstep(
        -.02f, .06f,
        inside + .05f * f.coarse_noise(t * 14, at.y * 4) + .03f * f.fine_noise(t * 40, at.y * 6));
    if (m.alpha <= 0) return m;
    const float strands =
        f.fine_noise(t * 26, at.y * 2.2f) * .5f + f.coarse_noise(t * 60, at.y * 4) * .35f;
    m.albedo = f.hair * (clamp(1 + .55f * strands, .3f, 1.8f) *
                         (.55f + .45f * smoothstep(0.f, .25f, inside)));
    m.specular = .10f;
    return m;
  }

  bool detailed(const Fragment& at) const override {
    const float inside = face_.hair_edge(absolute(at.azimuth)) - at.y;
    return inside > -.08f && inside < .10f;
  }

 private:
  const FaceShape& face_;
};

class Hat : public Surface {
 public:
  Hat(const FaceShape& face, int size, std::uint32_t seed) : knit_(seed) {
    Random random(seed, "synthetic.hat");
    color_ = linear_color(random.uniform(), random.uniform(), random.uniform());
    mesh = skull_shell(face, size, .06f + .5f * face.hair_volume, .1f,
                       [](float t) { return hem(t) + .3f; });
    one_sided = false;
  }

  Material shade(const Fragment& at) const override {
    const float inside = hem(absolute(at.azimuth)) - at.y;
    Material m;
    m.alpha = smoothstep(0, .03f, inside);
    m.albedo = color_ * (.85f + .2f * knit_(at.azimuth * 20, at.y * 20));
    if (inside < .14f) m.albedo = m.albedo * .6f;
    m.specular = .03f;
    return m;
  }

  bool detailed(const Fragment& at) const override {
    return absolute(hem(absolute(at.azimuth)) - at.y) < .06f;
  }

 private:
  static float hem(float azimuth) { return -.62f + .45f * smoothstep(.8f, 2.f, azimuth); }

  NoiseField knit_;
  Vec3 color_;
};

}  // namespace

std::unique_ptr<Surface> make_hair(const FaceShape& face, int size) {
  return std::make_unique<Hair>(face, size);
}

std::unique_ptr<Surface> make_hat(const FaceShape& face, int size, std::uint32_t seed) {
  return std::make_unique<Hat>(face, size, seed);
}

}  // namespace facebench::synthetic
