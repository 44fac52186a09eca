#include <algorithm>
#include <vector>

#include "facebench/core/random.h"
#include "facebench/synthetic/render/relief.h"
#include "facebench/synthetic/render/surface.h"

namespace facebench::synthetic {
namespace {

Vec3 random_color(Random& random) {
  const double r = random.uniform(), g = random.uniform(), b = random.uniform();
  return linear_color(r, g, b);
}

// Cloth that hangs in front of the face between two heights: `offset` above the smooth head, and
// nowhere inside the nose, the lips or the chin.
Mesh face_cloth(const FaceShape& f, int size, float offset, float y0, float y1,
                const Curve& least_width, float nose_tent) {
  const int rows = std::max(33, mesh_rows(size) / 2 | 1), columns = rows + 8;
  Mesh mesh(columns, rows);
  const auto around = azimuth_columns(columns, 2.2, false);
  std::vector<float> x(columns), relief(columns), fine(columns);
  for (int j = 0; j < rows; ++j) {
    const float y = y0 + (y1 - y0) * static_cast<float>(j) / static_cast<float>(rows - 1);
    const float on_head = clamp(y, -f.top, f.chin - .08f), below = std::max(0.f, y - on_head);
    const float w = std::max(f.half_width(on_head), least_width(y));
    const float front = f.front(on_head) - .3f * below, back = f.back(on_head) - .1f * below;
    const float middle = .5f * (front + back), half = .5f * (front - back);
    for (int i = 0; i < columns; ++i) x[i] = w * around[i].across;
    relief_row(f, on_head, x, relief, fine);
    for (int i = 0; i < columns; ++i) {
      Vertex& v = mesh.at(j, i);
      const float facing = smoothstep(1.5f, .95f, absolute(around[i].azimuth));
      // Cloth bridges hollows: it hangs from the nose and the chin.
      const float tent = nose_tent * bump(x[i], .3f) * bump(y - f.nose_length, .35f) +
                         .09f * bump(x[i], y - (f.chin - .19f), .32f, .2f);
      const float lift = std::max(tent, (relief[i] + .02f) * facing);
      v.position = {(w + offset) * around[i].across, y,
                    middle + (half + offset) * around[i].along + lift};
      v.x = v.position.x;
      v.y = y;
      v.azimuth = around[i].azimuth;
    }
  }
  mesh.compute_normals();
  return mesh;
}

class Mask : public Surface {
 public:
  Mask(const FaceShape& face, int size, std::uint32_t seed) {
    Random random(seed, "synthetic.mask");
    color_ = mix(linear_color(.75, .85, .92), random_color(random), .35f);
    mesh = face_cloth(face, size, .05f, .26f, face.chin + .06f, Curve{{0.f, 0.f}, {1.f, 0.f}},
                      .36f * face.nose_projection);
  }

  Material shade(const Fragment& at) const override {
    const float t = absolute(at.azimuth);
    Material m;
    const float strap =
        t > 1.3f && t < 1.75f ? smoothstep(.02f, 0, absolute(at.y - .55f - .25f * (t - .9f))) : 0.f;
    m.alpha = std::max(
        smoothstep(-.01f, .02f, at.y - upper_edge(at.x)) * smoothstep(1.36f, 1.30f, t), strap);
    const float phase = at.y * (16 / 3.14159265f);
    const float fold = absolute(phase - static_cast<float>(static_cast<int>(phase)) - .5f);
    m.albedo = color_ * (1 - .14f * smoothstep(.42f, .5f, fold));
    m.specular = .02f;
    return m;
  }

  bool detailed(const Fragment& at) const override {
    const float t = absolute(at.azimuth);
    return absolute(at.y - upper_edge(at.x)) < .05f || t > 1.27f;
  }

 private:
  static float upper_edge(float x) { return .34f + .16f * smoothstep(.15f, .8f, absolute(x)); }

  Vec3 color_;
};

class Scarf : public Surface {
 public:
  Scarf(const FaceShape& face, int size, std::uint32_t seed)
      : weave_(seed), top_(face.mouth_y - .10f) {
    Random random(seed, "synthetic.scarf");
    color_ = random_color(random);
    const float chin = face.chin;
    // Wound around the neck, so wider than the jaw.
    const Curve width = {{top_, .55f},
                         {chin - .25f, .80f},
                         {chin + .15f, .95f},
                         {chin + .55f, 1.0f},
                         {chin + .85f, .85f}};
    mesh = face_cloth(face, size, .12f, face.mouth_y - .16f, chin + .85f, width, 0);
    for (Vertex& v : mesh.vertices)
      v.position.z += .04f * weave_(v.azimuth * 2, v.y * 6 + 2 * v.azimuth);
    mesh.compute_normals();
  }

  Material shade(const Fragment& at) const override {
    Material m;
    m.alpha = smoothstep(-.01f, .03f, at.y - edge(at));
    const float fold = weave_(at.azimuth * 1.5f, at.y * 9 + 3 * at.azimuth);
    m.albedo = color_ * (.85f + .25f * fold + .12f * weave_(at.x * 25, at.y * 25));
    m.specular = .02f;
    return m;
  }

  bool detailed(const Fragment& at) const override { return absolute(at.y - edge(at)) < .05f; }

 private:
  float edge(const Fragment& at) const { return top_ + .04f * weave_(at.azimuth * 3, 0); }

  NoiseField weave_;
  Vec3 color_;
  float top_;
};

}  // namespace

std::unique_ptr<Surface> make_mask(const FaceShape& face, int size, std::uint32_t seed) {
  return std::make_unique<Mask>(face, size, seed);
}

std::unique_ptr<Surface> make_scarf(const FaceShape& face, int size, std::uint32_t seed) {
  return std::make_unique<Scarf>(face, size, seed);
}

}  // namespace facebench::synthetic
