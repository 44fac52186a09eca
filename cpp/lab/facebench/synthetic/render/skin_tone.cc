#include "facebench/core/random.h"
#include "facebench/synthetic/render/surface.h"

namespace facebench::synthetic {

SkinTone::SkinTone(const FaceShape& face) : face_(face), noise_(face.identity.texture_seed + 9) {
  Random random(face.identity.texture_seed, "synthetic.moles");
  moles_.resize(random.below(4));
  for (Mole& mole : moles_)
    mole = {static_cast<float>(random.uniform(-.75, .75)),
            static_cast<float>(random.uniform(-.5, 1.3)),
            static_cast<float>(random.uniform(.012, .028))};
}

Vec3 SkinTone::operator()(float x, float y) const {
  const FaceShape& f = face_;
  const float grain = f.coarse_noise(x * 4 + 7, y * 4) * .5f + f.fine_noise(x * 11, y * 11) * .3f +
                      f.fine_noise(x * 27, y * 27) * .25f;
  Vec3 c = f.skin * (1 + .05f * grain * (1 + 1.2f * f.old));
  const float ax = absolute(x);
  const float red = .5f * bump(ax - .52f, y - .42f, .22f, .2f) +
                    .5f * bump(x, y - f.nose_length, .14f, .12f) +
                    .25f * bump(x, y - f.chin + .2f, .25f, .12f) + .15f * noise_(x * 3, y * 3);
  c = c * Vec3{1 + .06f * red, 1 - .10f * red, 1 - .10f * red};
  if (f.freckles > .02f) {
    const float spots =
        smoothstep(.25f, .6f, noise_(x * 24, y * 24)) * smoothstep(.9f, .3f, absolute(y - .3f));
    c = c * mix(Vec3{1, 1, 1}, Vec3{.72f, .60f, .5f}, f.freckles * spots);
  }
  for (const Mole& mole : moles_)
    c = c * (1 - .75f * bump(x - mole.x, y - mole.y, mole.radius, mole.radius));
  return c;
}

}  // namespace facebench::synthetic
