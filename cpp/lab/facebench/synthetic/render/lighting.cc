#include "facebench/synthetic/render/lighting.h"

#include <algorithm>
#include <numbers>

namespace facebench::synthetic {
namespace {

// Light that arrives past the terminator, scattered inside the material.
float wrapped(float cosine, float wrap) { return std::max(0.f, (cosine + wrap) / (1 + wrap)); }

}  // namespace

Lighting::Lighting(const FaceNuisance& n)
    : key_(static_cast<float>(n.key_light)), ambient_(static_cast<float>(n.ambient_light)) {
  constexpr double radians = std::numbers::pi / 180;
  const double azimuth = n.light_azimuth * radians, elevation = n.light_elevation * radians;
  lamp_ = {static_cast<float>(portable_sin(azimuth) * portable_cos(elevation)),
           static_cast<float>(-portable_sin(elevation)),
           static_cast<float>(portable_cos(azimuth) * portable_cos(elevation))};
  fill_ = normalized({-lamp_.x * .8f, -.2f, .8f});
  halfway_ = normalized(lamp_ + Vec3{0, 0, 1});
  const float warmth = static_cast<float>(n.warmth);
  color_ = {1 + .12f * warmth, 1, 1 - .16f * warmth};
}

Vec3 Lighting::shade(const Material& m, const Fragment& at) const {
  const Vec3 n = at.normal;
  const float cosine = dot(n, lamp_);
  // Wrap of red, green and blue in skin: Green, "Real-time approximations to subsurface
  // scattering", GPU Gems 2004, with widths by eye.
  const Vec3 direct =
      m.skin ? Vec3{wrapped(cosine, .28f), wrapped(cosine, .14f), wrapped(cosine, .08f)}
             : Vec3{1, 1, 1} * wrapped(cosine, .2f);
  const float sky = .72f - .28f * n.y;
  const float fill = std::max(0.f, dot(n, fill_)) * .25f;
  const Vec3 light =
      direct * color_ * key_ + Vec3{1, 1, 1.02f} * ((ambient_ * sky + fill * key_) * at.occlusion);
  Vec3 color = m.albedo * light * (.5f + .5f * at.occlusion);
  const float highlight =
      power_of_two_power(std::max(0.f, dot(n, halfway_)), m.gloss) * m.specular * .35f;
  color = color + Vec3{1, 1, 1} * ((highlight + m.emission) * key_);
  return color * (.75f + .25f * smoothstep(0, .45f, n.z));
}

}  // namespace facebench::synthetic
