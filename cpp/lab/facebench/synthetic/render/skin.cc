#include <algorithm>

#include "facebench/synthetic/render/head.h"
#include "facebench/synthetic/render/surface.h"

namespace facebench::synthetic {
namespace {

// The head's surface with everything that is painted on it: eyes, brows, lips, nostrils, beard.
// Features are functions of the smooth head's (x, y); each returns at once where it is far away.
class Skin : public Surface {
 public:
  Skin(const FaceShape& face, int size, Vec3 light) : face_(face), tone_(face), light_(light) {
    mesh = build_head(face, size);
  }

  Material shade(const Fragment& at) const override {
    Material m;
    m.specular = .10f;
    m.gloss = 4;
    m.skin = true;
    m.albedo = tone_(at.x, at.y);
    const float azimuth = absolute(at.azimuth);
    if (azimuth < 1.5f) beard(at, m);
    if (azimuth < 1.45f) {
      brows(at, m);
      eye(at, m);
      nostrils(at, m);
      lips(at, m);
    }
    const float under_hair = smoothstep(.20f, -.02f, at.y - face_.hair_edge(azimuth));
    const float under_jaw = smoothstep(face_.chin - .07f, face_.chin + .03f, at.y);
    m.albedo = m.albedo * ((1 - .35f * under_hair) * (1 - .45f * under_jaw));
    return m;
  }

  bool detailed(const Fragment& at) const override {
    if (absolute(at.azimuth) > 1.45f) return false;
    const float ax = absolute(at.x);
    const bool eye = absolute(ax - face_.eye_x) < 1.2f * face_.eye_width &&
                     absolute(at.y - face_.eye_y) < .65f * face_.eye_width;
    const bool brow = absolute(at.y - face_.brow_y) < .13f && ax > .12f && ax < .8f;
    const bool mouth = ax < 1.1f * face_.mouth_width && at.y > face_.mouth_y - .16f &&
                       at.y < face_.mouth_y + .2f + .25f * face_.mouth_open;
    const bool nostril = ax < .2f && absolute(at.y - face_.nose_length - .085f) < .05f;
    return eye || brow || mouth || nostril;
  }

 private:
  void beard(const Fragment& at, Material& m) const {
    const FaceShape& f = face_;
    if (f.beard <= .02f || at.y < f.nose_length) return;
    const float ax = absolute(at.x);
    const float from_mouth = std::sqrt(square(at.x * .8f) + square((at.y - f.mouth_y) * 1.1f));
    const float jaw = smoothstep(.55f, 1.0f, at.y + .35f * ax) * smoothstep(.18f, .42f, from_mouth);
    const float moustache = bump(ax - .14f, at.y - (f.nose_length + .24f), .20f, .08f);
    const float hairs =
        std::max(jaw, moustache) * clamp(.8f + .35f * f.fine_noise(at.x * 30, at.y * 18), 0, 1.2f);
    m.albedo = mix(m.albedo, f.hair * .8f, clamp(hairs * f.beard * 1.25f, 0, .93f));
  }

  void brows(const Fragment& at, Material& m) const {
    const FaceShape& f = face_;
    const float along = (absolute(at.x) - (f.eye_x - .04f)) / f.brow_length;
    if (along < -1.25f || along > 1.3f || absolute(at.y - f.brow_y) > .3f) return;
    const float side = at.x > 0 ? 1.f : -1.f;
    const float line = f.brow_y - f.brow_arch * (1 - square(along - .25f) * 1.3f) + .04f -
                       f.brow_tilt * along + 2 * side * f.eye_slant;
    const float thick = f.brow_thickness * (along < 0 ? 1.05f : 1.05f - .65f * along);
    float hairs = smoothstep(thick * 1.25f, thick * .55f, absolute(at.y - line)) *
                  smoothstep(-1.2f, -.9f, along) * smoothstep(1.25f, .85f, along);
    hairs *= clamp(.78f + .3f * f.coarse_noise(at.x * 38 + at.y * 20, at.y * 14), 0, 1);
    const float strength = .86f + .1f * f.trait(FaceTrait::brow_thickness);
    m.albedo = mix(m.albedo, f.brow, clamp(hairs * strength, 0, .95f));
  }

  void eye(const Fragment& at, Material& m) const {
    const FaceShape& f = face_;
    const float side = at.x > 0 ? 1.f : -1.f;
    // In half widths of the eye: dx from nose to ear, dy down.
    const float dx = (absolute(at.x) - f.eye_x) / f.eye_width;
    const float dy = (at.y - f.eye_y - side * f.eye_slant) / f.eye_width + f.eye_tilt * dx;
    if (absolute(dx) > 1.7f || absolute(dy) > 1.5f) return;
    Vec3& c = m.albedo;
    const float bags = .06f + .02f * f.trait(FaceTrait::eye_bags) + .08f * f.old;
    c = c * (1 - .16f * bump(dx + .55f, dy - .1f, .5f, .5f) -
             .10f * bump(dx, dy + .45f, .9f, .25f) - bags * bump(dx, dy - .6f, .8f, .22f));
    const float crease = -(f.upper_lid + .17f + .02f * f.trait(FaceTrait::eyelid_crease)) *
                         power_3_4(std::max(0.f, 1 - dx * dx * .72f));
    c = c * (1 - .42f * bump(dy - crease, .045f) * smoothstep(1.2f, .9f, absolute(dx)));

    const float arc = absolute(dx) < 1 ? power_3_4(1 - dx * dx * (dx < 0 ? 1.f : .97f)) : 0.f;
    const float upper = -f.upper_lid * arc, lower = f.lower_lid * arc;
    if (arc > 0 && f.lids_closed <= .9f) {
      const float inside =
          std::min(smoothstep(-.03f, .05f, dy - upper), smoothstep(-.03f, .05f, lower - dy)) *
          smoothstep(1.0f, .93f, absolute(dx));
      if (inside > 0) {
        c = mix(c, eyeball(dx, dy, side) * (.50f + .5f * smoothstep(.02f, .30f, dy - upper)),
                inside);
        if (inside > .5f) {
          m.specular = .25f;
          m.gloss = 6;
          m.emission = .8f * inside *
                       bump(dx - side * light_.x * .20f, dy - light_.y * .2f + .02f, .07f, .07f);
        }
      }
    }
    if (absolute(dx) < 1.15f) {
      const float lashes = bump(dy - upper + .02f, .055f) * smoothstep(1.15f, .95f, absolute(dx));
      const float rim = bump(dy - lower - .01f, .035f) * smoothstep(1.08f, .9f, absolute(dx));
      c = mix(c, Vec3{.012f, .009f, .008f}, clamp(lashes * .85f, 0, 1));
      c = mix(c, f.skin * Vec3{.45f, .3f, .28f}, clamp(rim * .55f, 0, 1));
    }
  }

  Vec3 eyeball(float dx, float dy, float side) const {
    const FaceShape& f = face_;
    static const Vec3 white = linear_color(.86, .84, .82), corner = linear_color(.75, .45, .42);
    Vec3 c = mix(white * (.95f - .35f * dx * dx), corner, .5f * bump(dx + .95f, dy, .10f, .15f));
    const float ix = dx - side * f.gaze_x * .35f, iy = dy - f.gaze_y * .25f + .05f;
    const float r = std::sqrt(ix * ix + iy * iy) * (1 / .43f);
    if (r < 1.15f) {
      Vec3 iris = f.iris * (.75f + .35f * f.fine_noise(rough_angle(iy, ix) * 19, r * 3));
      iris = iris * (1 - .6f * smoothstep(.75f, 1.0f, r));
      iris = mix(iris, Vec3{.004f, .004f, .004f}, smoothstep(.48f, .36f, r));
      c = mix(c, iris, smoothstep(1.1f, .94f, r));
    }
    return c;
  }

  void nostrils(const Fragment& at, Material& m) const {
    const FaceShape& f = face_;
    const float y = at.y - f.nose_length, ax = absolute(at.x);
    if (absolute(y - .05f) > .3f || ax > .6f) return;
    const float hole = bump(ax - .085f * f.nose_width, y - .085f, .040f * f.nose_width, .020f);
    m.albedo = m.albedo * ((1 - .82f * clamp(hole * 1.3f, 0, 1)) *
                           (1 - .20f * bump(at.x, y - .115f, .16f * f.nose_width, .035f)) *
                           (1 - .22f * bump(ax - .225f * f.nose_width, y - .03f, .028f, .055f)));
  }

  void lips(const Fragment& at, Material& m) const {
    const FaceShape& f = face_;
    const float x = at.x, y = at.y, ax = absolute(x), q = ax / f.mouth_width;
    if (absolute(y - f.mouth_y) > .5f || q > 1.3f) return;
    Vec3& c = m.albedo;
    if (q < 1.15f) {
      const float line = f.mouth_line(x), opening = std::max(0.f, 1 - q * q);
      const float top = line - f.mouth_open * .03f * opening;
      const float bottom = line + f.mouth_open * .20f * opening;
      const float upper = f.upper_lip * power_5_8(opening) - f.bow * bump(x, .04f);
      const float lower = f.lower_lip * power_3_4(opening);
      const float red = smoothstep(-upper - .014f, -upper + .014f, y - top) *
                        smoothstep(lower + .018f, lower - .018f, y - bottom) *
                        smoothstep(1.0f, .94f, q);
      Vec3 lip = f.lip * (1 + .10f * f.fine_noise(x * 45, y * 9));
      if (y < line) lip = lip * .86f;
      c = mix(c, lip, red * .88f);
      m.specular = mix(m.specular, .22f, red);
      if (f.mouth_open > .04f) {
        const float hole = smoothstep(-.012f, .012f, y - top) *
                           smoothstep(.012f, -.012f, y - bottom) * smoothstep(1.f, .9f, q);
        if (hole > 0) c = mix(c, mouth_inside(ax, y, q, top, bottom), hole);
        m.specular *= 1 - .6f * hole;
      }
      const float gap = bump(y - (f.mouth_open > .04f ? top : line), .013f);
      c = c * (1 - .62f * gap * smoothstep(1.06f, .9f, q));
    }
    c = c * (1 - .45f * bump(ax - f.mouth_width, y - f.mouth_line(f.mouth_width), .03f, .025f));
    const float below = f.mouth_y + f.mouth_open * .2f + f.lower_lip + .05f;
    c = c * (1 - .12f * bump(x, y - below, .18f, .035f));
  }

  Vec3 mouth_inside(float ax, float y, float q, float top, float bottom) const {
    static const Vec3 dark = linear_color(.22, .07, .07), tooth = linear_color(.88, .85, .79);
    if (face_.smile <= .1f && face_.mouth_open <= .2f) return dark;
    const float edge = top + std::min(.105f, (bottom - top) * .8f);
    const float row = smoothstep(edge + .015f, edge - .015f, y) * smoothstep(.88f, .70f, q);
    const float within = ax / .085f - static_cast<float>(static_cast<int>(ax / .085f));
    const float gap = bump(absolute(within * .085f - .0425f) - .0425f, .006f);
    return mix(dark, tooth * ((.9f - .35f * q * q) * (1 - .18f * gap)), row);
  }

  const FaceShape& face_;
  SkinTone tone_;
  Vec3 light_;
};

}  // namespace

std::unique_ptr<Surface> make_skin(const FaceShape& face, int size, Vec3 light) {
  return std::make_unique<Skin>(face, size, light);
}

}  // namespace facebench::synthetic
