#pragma once

#include "facebench/detection/face.h"
#include "facebench/images/image.h"
#include "facebench/synthetic/identity.h"
#include "facebench/synthetic/nuisance.h"

namespace facebench {

// A picture and everything that is known about it.
struct SyntheticFace {
  Image image;  // size x size, rgb
  // The skin from forehead to chin and from ear to ear, as a face detector frames it; may reach
  // beyond the image. Not clipped to what a disguise leaves visible.
  Box box;
  Landmarks landmarks;  // where the features are, also where they are covered
  double yaw = 0;       // degrees
  double quality = 0;   // 0 to 100, see quality_score
  AgeGroup age_group = AgeGroup::young;
  Disguise disguise = Disguise::none;
};

// Draws a person's photograph: a 2.5-dimensional head with procedural skin and features, hair,
// body, background and camera; nothing learned, nothing photographed. The same arguments give the
// same bytes on every machine and from any thread. `size` in pixels (32 to 2048); `supersampling` x
// `supersampling` samples a pixel (1 to 4) decide what is visible; a pixel is shaded once where
// they agree. The caller applies JPEG compression when writing the file (nuisance.jpeg_quality).
// Throws std::invalid_argument for values out of range.
SyntheticFace render_face(const FaceIdentity& identity, const FaceNuisance& nuisance,
                          int size = 160, int supersampling = 2);

}  // namespace facebench
