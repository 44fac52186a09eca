#pragma once

#include <cstdint>

#include "facebench/synthetic/identity.h"
#include "facebench/synthetic/nuisance.h"
#include "facebench/synthetic/render/curve.h"
#include "facebench/synthetic/render/math.h"
#include "facebench/synthetic/render/noise.h"

namespace facebench::synthetic {

// One person in one photograph, as lengths, angles and colours. The unit is half the width of the
// average head; x points to the right of the image, y down, z to the camera; the eyes lie at y = 0,
// the axis of the head at x = 0. Colours are linear, 0 to 1.
struct FaceShape {
  FaceIdentity identity;
  Disguise disguise = Disguise::none;

  // Age: how much of a child, how old, and how grey.
  float child = 0, old = 0, grey = 0, fat = 0;

  // Head: profiles over y of half the width, of the front's and of the back's depth.
  float top = 0, chin = 0;
  Curve half_width, front, back;

  float eye_x = 0, eye_y = 0, eye_width = 0, upper_lid = 0, lower_lid = 0, eye_tilt = 0;
  float socket = 0, gaze_x = 0, gaze_y = 0, lids_closed = 0;
  float brow_y = 0, brow_thickness = 0, brow_arch = 0, brow_tilt = 0, brow_length = 0;
  float nose_length = 0, nose_width = 0, nose_projection = 0, nose_bridge = 0;
  float nose_bridge_width = 0, nose_tip = 0;
  float mouth_y = 0, mouth_width = 0, upper_lip = 0, lower_lip = 0, bow = 0;
  float mouth_open = 0, smile = 0, mouth_slant = 0, eye_slant = 0;

  float hairline = 0, peak = 0, hair_volume = 0, hair_length = 0, beard = 0, freckles = 0;
  Vec3 skin, hair, brow, iris, lip;

  // Grain, by what it is for.
  NoiseField fine_noise, coarse_noise;

  bool long_hair() const { return hair_length > 0.15f; }
  float trait(FaceTrait t) const { return identity[t]; }
  // y of the line between the lips.
  float mouth_line(float x) const {
    const float q = x / mouth_width;
    return mouth_y - smile * 0.10f * q * q + mouth_slant * q;
  }
  // y above which there is hair, at the azimuth |t| around the head.
  float hair_edge(float azimuth) const;
};

FaceShape make_shape(const FaceIdentity& identity, const FaceNuisance& nuisance);

// A display colour (sRGB, taken as a power of 2.2) as linear light.
Vec3 linear_color(double r, double g, double b);

}  // namespace facebench::synthetic
