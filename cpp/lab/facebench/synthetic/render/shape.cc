#include "facebench/synthetic/render/shape.h"

#include <algorithm>

namespace facebench::synthetic {
namespace {

using T = FaceTrait;

void set_age(FaceShape& f, double age) {
  const float a = static_cast<float>(age);
  f.child = smoothstep(0.18f, 0.f, a);
  f.old = smoothstep(0.45f, 1.f, a);
  f.grey = clamp(smoothstep(0.5f, 0.95f, a + 0.08f * f.trait(T::greying)), 0, 1);
  f.fat = 0.5f * f.trait(T::fatness);
}

void set_eyes(FaceShape& f, const FaceNuisance& n) {
  f.eye_x = 0.455f + 0.034f * f.trait(T::eye_distance);
  f.eye_y = 0.01f * f.trait(T::eye_height);
  f.eye_width = 0.205f * (1 + 0.075f * f.trait(T::eye_size) + 0.12f * f.child - 0.04f * f.old);
  f.lids_closed = static_cast<float>(n.eyelids);
  const float opening = (1 + 0.16f * f.trait(T::eye_opening) - 0.18f * f.old) *
                        (1 - f.lids_closed) * (1 - 0.25f * std::max(0.f, f.smile));
  f.upper_lid = 0.40f * opening;
  f.lower_lid = 0.24f * opening;
  f.eye_tilt = 0.10f * f.trait(T::eye_tilt) - 0.03f;
  f.eye_slant = 0.004f * f.trait(T::asymmetry);
  f.socket = 1 + 0.35f * f.trait(T::eye_depth);
  f.gaze_x = static_cast<float>(n.gaze_x);
  f.gaze_y = static_cast<float>(n.gaze_y);

  const float raise = static_cast<float>(n.brow_raise), male = f.trait(T::masculinity);
  f.brow_y = -0.285f - 0.035f * f.trait(T::brow_height) - 0.07f * raise + 0.02f * male;
  f.brow_thickness = 0.045f * (1 + 0.30f * f.trait(T::brow_thickness) + 0.15f * male);
  f.brow_arch = 0.055f + 0.035f * f.trait(T::brow_arch);
  f.brow_tilt = 0.05f * f.trait(T::brow_tilt) + 0.06f * std::min(0.f, raise);
  f.brow_length = 0.27f * (1 + 0.08f * f.trait(T::brow_length));
}

void set_nose_and_mouth(FaceShape& f) {
  f.nose_length = 0.60f + 0.045f * f.trait(T::nose_length) + 0.03f * f.old - 0.06f * f.child;
  f.nose_width = 1 + 0.16f * f.trait(T::nose_width) + 0.06f * f.old;
  f.nose_projection = 1 + 0.17f * f.trait(T::nose_projection) - 0.25f * f.child;
  f.nose_bridge = 1 + 0.30f * f.trait(T::nose_bridge);
  f.nose_bridge_width = 1 + 0.15f * f.trait(T::nose_bridge_width);
  f.nose_tip = 1 + 0.2f * f.trait(T::nose_tip);

  f.mouth_y = f.nose_length + 0.385f + 0.03f * f.trait(T::mouth_height) - 0.03f * f.child;
  f.mouth_width =
      0.36f * (1 + 0.09f * f.trait(T::mouth_width)) * (1 + 0.22f * f.smile - 0.10f * f.mouth_open);
  f.upper_lip = 0.085f * (1 + 0.26f * f.trait(T::upper_lip) - 0.3f * f.old);
  f.lower_lip = 0.115f * (1 + 0.22f * f.trait(T::lower_lip) - 0.2f * f.old);
  f.bow = 0.022f + 0.012f * f.trait(T::cupid_bow);
  f.mouth_slant = 0.006f * f.trait(T::mouth_asymmetry);
}

void set_head(FaceShape& f) {
  const float male = f.trait(T::masculinity), drop = 0.22f * f.mouth_open;
  f.chin = 1.58f + 0.075f * f.trait(T::face_length) - 0.12f * f.child + drop;
  f.top = 1.62f + 0.07f * f.trait(T::skull_height);
  const float head = 1 + 0.045f * f.trait(T::head_width);
  const float jaw =
      1 + 0.09f * f.trait(T::jaw_width) + 0.05f * male + 0.07f * f.fat + 0.06f * f.old;
  const float chin = 1 + 0.14f * f.trait(T::chin_width) + 0.06f * male;
  const float cheek = 0.03f * f.trait(T::cheeks) + 0.04f * f.child + 0.04f * f.fat;
  const float c = f.chin, top = f.top;
  f.half_width = {{-top, 0.f},
                  {-top + .05f, .34f},
                  {-1.30f, .73f * head},
                  {-0.9f, .93f * head},
                  {-0.45f, .99f * head},
                  {0.05f, .97f * head},
                  {0.5f, (.90f + cheek) * head},
                  {0.88f, .80f * jaw + cheek * .5f},
                  {1.15f + drop * .6f, .655f * jaw},
                  {c - 0.18f, .42f * chin},
                  {c - 0.05f, .25f * chin},
                  {c + 0.03f, 0.02f}};
  const float projection = 0.06f * f.trait(T::chin_projection) - 0.05f * f.child;
  const float forehead = 0.04f * f.trait(T::forehead);
  f.front = {{-top, -.35f},
             {-top + .05f, .10f},
             {-1.30f, .62f + forehead},
             {-0.9f, .90f + forehead},
             {-0.45f, .98f},
             {0.0f, .92f},
             {0.5f, .95f},
             {0.95f, .97f},
             {c - 0.2f, .96f + projection},
             {c - 0.06f, .84f + projection},
             {c + 0.03f, .45f}};
  f.back = {{-top, -.45f},  {-top + .05f, -.95f}, {-1.30f, -1.35f},
            {-0.9f, -1.6f}, {-0.3f, -1.65f},      {0.4f, -1.3f},
            {0.8f, -.8f},   {1.1f, -.25f},        {c + 0.03f, .25f}};
}

void set_colors(FaceShape& f) {
  const float male = f.trait(T::masculinity);
  const float melanin = clamp(0.32f + 0.24f * f.trait(T::skin_tone), 0, 1);
  const Vec3 light = linear_color(.96, .80, .71), medium = linear_color(.80, .60, .47),
             dark = linear_color(.36, .24, .18);
  f.skin = melanin < .5f ? mix(light, medium, melanin * 2) : mix(medium, dark, melanin * 2 - 1);
  const float red = 0.05f * f.trait(T::skin_redness);
  f.skin = f.skin * Vec3{1 + red, 1, 1 - red * 1.2f};

  const float lightness = clamp(
      0.25f + 0.25f * f.trait(T::hair_lightness) - 0.35f * std::max(0.f, melanin - .35f), 0, 1);
  const Vec3 black = linear_color(.09, .07, .06), brown = linear_color(.35, .22, .14),
             blond = linear_color(.85, .70, .45);
  Vec3 hair =
      lightness < .5f ? mix(black, brown, lightness * 2) : mix(brown, blond, lightness * 2 - 1);
  const float ginger = std::max(0.f, f.trait(T::hair_redness));
  hair = hair * Vec3{1 + .25f * ginger, 1, 1 - .2f * ginger};
  f.hair = mix(hair, linear_color(.72, .71, .70), f.grey * .9f);
  f.brow =
      mix(mix(hair, linear_color(.10, .07, .05), .45f), linear_color(.6, .6, .6), f.grey * .5f);

  const float hue = clamp(.5f + .35f * f.trait(T::iris_hue), 0, 1);
  const float pale =
      clamp(.35f + .3f * f.trait(T::iris_lightness) - .5f * std::max(0.f, melanin - .4f), 0, 1);
  const Vec3 hazel =
      mix(linear_color(.30, .17, .08), linear_color(.42, .50, .30), smoothstep(.2f, .6f, hue));
  f.iris = mix(linear_color(.16, .09, .05),
               mix(hazel, linear_color(.40, .55, .70), smoothstep(.55f, .9f, hue)), pale);
  f.lip = mix(f.skin * Vec3{.85f, .52f, .52f}, linear_color(.70, .22, .25),
              clamp(.12f + .14f * f.trait(T::lip_color) - .1f * male, 0, .6f));
}

void set_hair(FaceShape& f) {
  const float male = f.trait(T::masculinity);
  f.hairline =
      0.93f + 0.07f * f.trait(T::hairline) + 0.10f * f.old * std::max(0.f, .3f + male * .5f);
  f.peak = 0.06f * f.trait(T::widows_peak);
  f.hair_volume = clamp(0.11f + 0.055f * f.trait(T::hair_volume) - .03f * male, .02f, .3f);
  f.hair_length = clamp(-0.35f + 0.9f * f.trait(T::hair_length) - 0.75f * male, 0.f, 1.6f);
  f.beard =
      male > 0 ? clamp(0.25f * f.trait(T::beard) + 0.20f * male, 0.f, .75f) * (1 - f.child) : 0.f;
  f.freckles = clamp(.35f * f.trait(T::freckles), 0, .6f);
}

}  // namespace

Vec3 linear_color(double r, double g, double b) {
  return {static_cast<float>(portable_power(r, 2.2)), static_cast<float>(portable_power(g, 2.2)),
          static_cast<float>(portable_power(b, 2.2))};
}

float FaceShape::hair_edge(float azimuth) const {
  float edge = -hairline + peak * bump(azimuth, .35f) - peak * .6f * bump(azimuth - .6f, .2f);
  const float temple = smoothstep(.72f, 1.30f, azimuth);
  edge = mix(edge, .05f, temple * temple);
  if (long_hair())
    // A curtain that begins well before the ear, so that from the front it is a sheet, not a
    // strand.
    return mix(edge, 1.0f + hair_length, smoothstep(1.02f, 1.30f, azimuth));
  edge = mix(edge, .12f, smoothstep(1.28f, 1.45f, azimuth));
  return mix(edge, .85f, smoothstep(1.75f, 2.2f, azimuth));
}

FaceShape make_shape(const FaceIdentity& identity, const FaceNuisance& nuisance) {
  FaceShape f;
  f.identity = identity;
  f.disguise = disguise_of(nuisance);
  f.smile = static_cast<float>(nuisance.smile);
  f.mouth_open = static_cast<float>(nuisance.mouth_open);
  f.fine_noise = NoiseField(identity.texture_seed);
  f.coarse_noise = NoiseField(identity.texture_seed + 1);
  set_age(f, nuisance.age);
  set_eyes(f, nuisance);
  set_nose_and_mouth(f);
  set_head(f);
  set_colors(f);
  set_hair(f);
  return f;
}

}  // namespace facebench::synthetic
