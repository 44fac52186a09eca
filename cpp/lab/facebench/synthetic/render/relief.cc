#include "facebench/synthetic/render/relief.h"

#include <algorithm>

#include "facebench/synthetic/render/math.h"

namespace facebench::synthetic {
namespace {

using T = FaceTrait;

// Adds Gaussian bumps along one row. The part of a bump that depends on y is the same for the whole
// row, so most of the bumps are skipped, and the loops over x hold no branch.
class RowBumps {
 public:
  RowBumps(float y, std::span<const float> x, std::span<float> out) : y_(y), x_(x), out_(out) {}

  // On both sides of the face, at |x| = cx.
  void pair(float amplitude, float cx, float cy, float sx, float sy) {
    const float a = amplitude * bump(y_ - cy, sy), scale = 1 / sx;
    if (absolute(a) < 1e-5f) return;
    for (std::size_t i = 0; i < x_.size(); ++i)
      out_[i] += a * decay(0.5f * square((absolute(x_[i]) - cx) * scale));
  }
  // In the middle.
  void middle(float amplitude, float cy, float sx, float sy) {
    middle_row(amplitude * bump(y_ - cy, sy), sx);
  }
  void middle_row(float a, float sx) {
    const float scale = 1 / sx;
    if (absolute(a) < 1e-5f) return;
    for (std::size_t i = 0; i < x_.size(); ++i) out_[i] += a * decay(0.5f * square(x_[i] * scale));
  }

 private:
  float y_;
  std::span<const float> x_;
  std::span<float> out_;
};

void nose(const FaceShape& f, float y, RowBumps& row) {
  const float length = f.nose_length;
  const float along = clamp((y + .12f) / (length + .12f), 0, 1);
  const float ends = smoothstep(length + .14f, length + .015f, y) * smoothstep(-.32f, .02f, y);
  const float height =
      mix(.115f * f.nose_bridge, .30f * f.nose_projection, along * along * .55f + along * .45f);
  row.middle_row(height * ends,
                 mix(.080f * f.nose_bridge_width, .105f * f.nose_bridge_width, along));
  row.middle(.105f * f.nose_tip * f.nose_projection, length - .02f, .105f * f.nose_tip, .095f);
  row.pair(.155f * f.nose_width, .155f * f.nose_width, length + .035f, .068f * f.nose_width, .065f);
  row.pair(-.03f, .235f * f.nose_width, length + .03f, .035f, .07f);
}

void nasolabial_fold(const FaceShape& f, float y, std::span<const float> x, std::span<float> out) {
  const float t = (y - (f.nose_length - .02f)) / (f.mouth_y + .02f - f.nose_length);
  if (t <= -.2f || t >= 1.4f) return;
  const float start = .23f * f.nose_width;
  const float line = start + t * (f.mouth_width + .075f - start) * (.55f + .45f * t);
  const float depth = (.018f + .035f * std::max(0.f, f.smile) + .035f * f.old) *
                      smoothstep(-.2f, .15f, t) * smoothstep(1.4f, .9f, t);
  for (std::size_t i = 0; i < x.size(); ++i) out[i] -= depth * bump(absolute(x[i]) - line, .045f);
}

void lips(const FaceShape& f, float y, std::span<const float> x, std::span<float> out) {
  if (y < f.mouth_y - .65f || y > f.mouth_y + .75f) return;
  const float upper = .055f + .25f * (f.upper_lip - .085f);
  const float lower = .070f + .25f * (f.lower_lip - .115f);
  const float open = f.mouth_open;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float ax = absolute(x[i]);
    const float side = smoothstep(f.mouth_width * 1.15f, f.mouth_width * .5f, ax);
    if (side == 0) continue;
    const float line = f.mouth_line(x[i]), top = line - open * .03f, bottom = line + open * .20f;
    float d = upper * bump(y - (top - f.upper_lip * .5f), f.upper_lip * .55f) +
              lower * bump(y - (bottom + f.lower_lip * .5f), f.lower_lip * .55f) -
              .05f * bump(y - line, .02f);
    if (open > .05f) d -= .10f * bump(y - .5f * (top + bottom), .10f * open + .01f);
    out[i] += side * d;
  }
}

void wrinkles(const FaceShape& f, float y, std::span<const float> x, std::span<float> out) {
  if (f.old < .02f) return;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float ax = absolute(x[i]);
    float w = 0;
    if (y < -.35f && y > -.95f)
      for (int k = 0; k < 4; ++k) {
        const float line =
            -.45f - .11f * k + .02f * f.fine_noise(x[i] * 3, k * 7.f) - .03f * bump(x[i], .3f);
        w += bump(y - line, .014f) * smoothstep(.75f, .4f, ax);
      }
    const float px = ax - (f.eye_x + f.eye_width + .03f), py = y - f.eye_y;
    if (px > -.01f && px < .22f && absolute(py) < .3f) {
      const float fade = smoothstep(-.01f, .03f, px) * smoothstep(.22f, .10f, px);
      // Crow's feet: three lines at about -14, 2 and 18 degrees.
      constexpr float sine[3] = {-.2474f, .0300f, .3051f}, cosine[3] = {.9689f, .9996f, .9523f};
      for (int k = 0; k < 3; ++k) w += .8f * bump(py * cosine[k] - px * sine[k], .012f) * fade;
    }
    w += .7f * bump(ax - .06f, y + .25f, .012f, .07f);
    out[i] -= .022f * f.old * w;
  }
}

}  // namespace

void relief_row(const FaceShape& f, float y, std::span<const float> x, std::span<float> relief,
                std::span<float> fine) {
  std::fill(relief.begin(), relief.end(), 0.f);
  std::fill(fine.begin(), fine.end(), 0.f);
  RowBumps row(y, x, relief);
  const float ex = f.eye_x, ey = f.eye_y;
  row.pair(.055f + .0125f * f.trait(T::brow_ridge) + .012f * f.trait(T::masculinity), .40f,
           f.brow_y + .02f, .27f, .10f);
  row.pair(-.125f * f.socket, ex, ey + .01f, .22f, .155f);
  row.pair(-.07f * f.socket, .19f, 0, .08f, .12f);
  row.pair(.085f, ex, ey, .155f, .095f);
  row.pair(-.03f * (1 + 1.2f * f.old), ex, ey + .19f, .17f, .05f);
  row.pair(.03f + .01f * f.trait(T::eye_bags) + .03f * f.old, ex, ey + .14f, .14f, .04f);
  nose(f, y, row);

  row.pair(.07f + .03f * f.trait(T::cheeks) + .05f * std::max(0.f, f.smile), .60f,
           .27f - .04f * f.smile, .22f, .17f);
  row.pair(.05f * f.fat, .55f, .65f, .25f, .25f);
  row.pair(-.05f * std::max(0.f, -f.fat + .3f * f.old), .62f, .72f, .18f, .22f);
  nasolabial_fold(f, y, x, relief);

  row.middle(.035f, f.mouth_y, f.mouth_width * .9f, .17f);
  lips(f, y, x, relief);
  row.pair(-.035f, f.mouth_width + .02f, f.mouth_line(f.mouth_width), .05f, .06f);
  row.middle(-(.014f + .004f * f.trait(T::philtrum)), f.nose_length + .2f, .035f, .07f);
  const float below_lip = f.mouth_line(0) + f.mouth_open * .20f + f.lower_lip + .07f;
  row.middle(-.055f, below_lip, .26f, .055f);
  row.middle(.075f + .02f * f.trait(T::chin_projection), f.chin - .19f,
             .20f * (1 + .14f * f.trait(T::chin_width)), .11f);
  wrinkles(f, y, x, fine);
}

}  // namespace facebench::synthetic
