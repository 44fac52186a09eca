#include <algorithm>

#include "facebench/core/random.h"
#include "facebench/synthetic/render/surface.h"

namespace facebench::synthetic {
namespace {

// A band in front of the eyes that bends back to the ears; frame, bridge, arms and lenses are cut
// out of it by the material.
class Glasses : public Surface {
 public:
  Glasses(const FaceShape& face, int size, std::uint32_t seed, bool dark)
      : dark_(dark), eye_x_(face.eye_x) {
    Random random(seed, "synthetic.glasses");
    thickness_ = static_cast<float>(random.uniform(.018, .043));
    lens_width_ = static_cast<float>(random.uniform(.27, .32)) + (dark ? .03f : 0);
    lens_height_ = static_cast<float>(random.uniform(.17, .24)) + (dark ? .05f : 0);
    squareness_ = static_cast<float>(random.uniform());
    frame_ = random.uniform() < .6 ? linear_color(.06, .05, .05)
                                   : linear_color(random.uniform(.2, .7), random.uniform(.15, .45),
                                                  random.uniform(.1, .3));
    glass_ = dark ? linear_color(.07, .07, .08) : linear_color(.6, .65, .7);
    one_sided = false;
    build(face, size);
  }

  Material shade(const Fragment& at) const override {
    const float ax = absolute(at.x), y = at.y;
    const float dx = absolute(ax - eye_x_) / lens_width_, dy = (y - .03f) / lens_height_;
    // Between an ellipse (exponent 2) and a rounded rectangle (exponent 4).
    const float round = std::sqrt(dx * dx + dy * dy);
    const float squared = std::sqrt(std::sqrt(square(dx * dx) + square(dy * dy)));
    const float outside =
        (mix(round, squared, squareness_) - 1) * std::min(lens_width_, lens_height_);
    const float half = thickness_ * .5f;
    const auto stroke = [](float distance, float width) {
      return smoothstep(width + .012f, width - .012f, absolute(distance));
    };
    float frame = stroke(outside, half);
    if (ax < eye_x_ - lens_width_ + .02f)
      frame = std::max(frame, stroke(y + .02f + .03f * (1 - ax * ax * 20), half));
    if (ax > eye_x_ + lens_width_ - .01f) frame = std::max(frame, stroke(y + .03f, half * 1.2f));

    Material m;
    m.albedo = frame_;
    m.alpha = frame;
    m.specular = .3f;
    m.gloss = 5;
    const float opacity = dark_ ? .93f : .06f;
    if (outside < 0 && frame < opacity) {
      m.albedo = mix(glass_, frame_, frame);
      m.alpha = opacity;
      m.specular = dark_ ? .5f : .25f;
      if (dark_) m.emission = .06f * smoothstep(.2f, -.6f, dy);
    }
    return m;
  }

  bool detailed(const Fragment&) const override { return true; }

 private:
  void build(const FaceShape& face, int size) {
    const int columns = mesh_rows(size) * 6 / 10 | 1, rows = columns / 3;
    mesh = Mesh(columns, rows);
    const float z0 = face.front(0) + .10f + .06f * (face.nose_bridge - 1);
    const float side = 1.02f * face.half_width(0.f) + .03f, corner = side - .12f;
    for (int i = 0; i < columns; ++i) {
      // Along the band, from the middle: front, a bend of radius 0.12, then straight back.
      const float a = 3.1f * (2 * static_cast<float>(i) / static_cast<float>(columns - 1) - 1);
      const float along = absolute(a);
      float x = a, z = z0 - .10f * a * a;
      if (along >= corner) {
        const float past = along - corner;
        const double bend = std::min(past, .24f) / .24f * 1.45;
        const float edge = corner + .12f * static_cast<float>(portable_sin(bend));
        x = a > 0 ? edge : -edge;
        z = z0 - .10f * corner * corner - .14f * (1 - static_cast<float>(portable_cos(bend))) -
            std::max(0.f, past - .24f);
      }
      for (int j = 0; j < rows; ++j) {
        const float y = -.36f + .76f * static_cast<float>(j) / static_cast<float>(rows - 1);
        Vertex& v = mesh.at(j, i);
        v.position = {x, y, z};
        v.x = a;
        v.y = y;
        // Behind the lenses only the arms are left.
        v.shown = along < eye_x_ + lens_width_ + .15f || absolute(y + .03f) < .08f;
      }
    }
    mesh.compute_normals();
  }

  bool dark_;
  float eye_x_, thickness_, lens_width_, lens_height_, squareness_;
  Vec3 frame_, glass_;
};

}  // namespace

std::unique_ptr<Surface> make_glasses(const FaceShape& face, int size, std::uint32_t seed,
                                      bool dark) {
  return std::make_unique<Glasses>(face, size, seed, dark);
}

}  // namespace facebench::synthetic
