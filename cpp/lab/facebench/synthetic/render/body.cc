#include <algorithm>
#include <numbers>

#include "facebench/core/random.h"
#include "facebench/synthetic/render/surface.h"

namespace facebench::synthetic {
namespace {

enum class Pattern { plain, stripes, checks, blots };

// Neck, shoulders and what the person wears.
class Body : public Surface {
 public:
  Body(const FaceShape& face, int size, std::uint32_t seed)
      : face_(face), tone_(face), cloth_(seed) {
    Random random(seed, "synthetic.clothing");
    const auto color = [&] {
      const double r = random.uniform(), g = random.uniform(), b = random.uniform();
      return linear_color(r, g, b);
    };
    first_ = color();
    second_ = color();
    neckline_ = static_cast<float>(random.uniform(0, .5));
    const double kind = random.uniform();
    pattern_ = kind < .4   ? Pattern::plain
               : kind < .6 ? Pattern::stripes
               : kind < .8 ? Pattern::checks
                           : Pattern::blots;
    pitch_ = static_cast<float>(random.uniform(4, 14)) / std::numbers::pi_v<float>;
    build(size);
  }

  Material shade(const Fragment& at) const override {
    Material m;
    const bool front = absolute(at.azimuth) < 1.5707963f;
    const float collar = 2.02f + (front ? neckline_ * bump(at.x, .35f) : 0.f);
    if (at.y < collar) {
      const float shadow = smoothstep(face_.chin + .55f, face_.chin - .05f, at.y) *
                           (absolute(at.azimuth) < 1.77f ? 1.f : .5f);
      m.albedo = tone_(at.x * .7f + 3, at.y) * (.92f * (1 - .55f * shadow));
      m.specular = .05f;
    } else {
      m.albedo = mix(first_, second_, .7f * pattern(at)) *
                 ((1 + .1f * cloth_(at.x * 6, at.y * 6)) *
                  (1 - .4f * smoothstep(collar + .12f, collar, at.y)));
      m.specular = .02f;
    }
    m.skin = true;
    return m;
  }

  bool detailed(const Fragment& at) const override {
    return at.y > 1.95f && at.y < 2.55f && absolute(at.x) < .9f;
  }

 private:
  // A square wave with soft edges, one period over two units of `phase`.
  static float wave(float phase) {
    const float p = phase * .5f;
    const float within = p - std::floor(p);
    return smoothstep(.22f, .28f, within < .5f ? within : 1 - within);
  }

  float pattern(const Fragment& at) const {
    switch (pattern_) {
      case Pattern::plain:
        return 0;
      case Pattern::stripes:
        return wave(at.y * pitch_ * 2);
      case Pattern::checks: {
        const float a = wave(at.x * pitch_), b = wave(at.y * pitch_);
        return a + b - 2 * a * b;
      }
      case Pattern::blots:
        return smoothstep(-.2f, .2f, cloth_(at.x * pitch_ * 1.6f, at.y * pitch_ * 1.6f));
    }
    return 0;
  }

  void build(int size) {
    const int rows = mesh_rows(size) / 2 | 1, columns = rows;
    mesh = Mesh(columns, rows);
    const float k = 1 + .06f * face_.trait(FaceTrait::masculinity) + .08f * face_.fat;
    const Curve width = {{.8f, .60f * k}, {1.6f, .57f * k}, {1.95f, .66f * k}, {2.15f, 1.0f},
                         {2.32f, 1.6f},   {2.6f, 2.05f},    {3.1f, 2.25f},     {5.f, 2.3f}};
    const Curve depth = {{.8f, .55f},   {1.6f, .52f}, {1.95f, .55f}, {2.15f, .60f},
                         {2.32f, .68f}, {2.6f, .78f}, {3.1f, .85f},  {5.f, .9f}};
    for (int j = 0; j < rows; ++j) {
      const float v = static_cast<float>(j) / static_cast<float>(rows - 1);
      const float y = .8f + 2.4f * v * v + 1.6f * v, w = width(y), d = depth(y);
      for (int i = 0; i < columns; ++i) {
        const double t = std::numbers::pi * (2.0 * i / (columns - 1) - 1);
        Vertex& vertex = mesh.at(j, i);
        vertex.position = {w * static_cast<float>(portable_sin(t)), y,
                           -.45f + d * static_cast<float>(portable_cos(t))};
        vertex.x = vertex.position.x;
        vertex.y = y;
        vertex.azimuth = static_cast<float>(t);
      }
    }
    mesh.compute_normals();
  }

  const FaceShape& face_;
  SkinTone tone_;
  NoiseField cloth_;
  Vec3 first_, second_;
  float neckline_ = 0, pitch_ = 1;
  Pattern pattern_ = Pattern::plain;
};

}  // namespace

std::unique_ptr<Surface> make_body(const FaceShape& face, int size, std::uint32_t seed) {
  return std::make_unique<Body>(face, size, seed);
}

}  // namespace facebench::synthetic
