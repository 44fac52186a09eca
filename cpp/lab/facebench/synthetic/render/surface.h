#pragma once

#include <memory>

#include "facebench/synthetic/render/mesh.h"
#include "facebench/synthetic/render/raster.h"
#include "facebench/synthetic/render/shape.h"

namespace facebench::synthetic {

// How a point answers to light.
struct Material {
  Vec3 albedo{};
  float alpha = 1;
  float specular = 0;
  int gloss = 3;       // the highlight's exponent is 2^gloss
  float emission = 0;  // added white, in parts of the key light: reflections of windows
  bool skin = false;   // light travels inside and wraps around, red most
};

// One layer of the picture: a mesh and its material.
class Surface {
 public:
  virtual ~Surface() = default;
  virtual Material shade(const Fragment& at) const = 0;
  // Whether the material changes within a pixel here, so that each sample is shaded for itself.
  virtual bool detailed(const Fragment& at) const = 0;

  Mesh mesh;
  bool one_sided = true;
};

// Mesh rows for `size` pixels of image: about one for each pixel of face.
int mesh_rows(int size);

// The parts of the picture. The light's direction is where it comes from, unit length. Surfaces
// keep a reference to the face.
std::unique_ptr<Surface> make_skin(const FaceShape& face, int size, Vec3 light);
std::unique_ptr<Surface> make_hair(const FaceShape& face, int size);
std::unique_ptr<Surface> make_hat(const FaceShape& face, int size, std::uint32_t seed);
std::unique_ptr<Surface> make_body(const FaceShape& face, int size, std::uint32_t seed);
std::unique_ptr<Surface> make_mask(const FaceShape& face, int size, std::uint32_t seed);
std::unique_ptr<Surface> make_scarf(const FaceShape& face, int size, std::uint32_t seed);
std::unique_ptr<Surface> make_glasses(const FaceShape& face, int size, std::uint32_t seed,
                                      bool dark);

// Depth of the head's front at (x, y), with relief. Requires |x| <= the head's half width there.
float front_depth(const FaceShape& face, float x, float y);

// The grain, redness, freckles and moles of the skin, without the features of the face.
class SkinTone {
 public:
  explicit SkinTone(const FaceShape& face);
  Vec3 operator()(float x, float y) const;

 private:
  struct Mole {
    float x, y, radius;
  };
  const FaceShape& face_;
  NoiseField noise_;
  std::vector<Mole> moles_;
};

}  // namespace facebench::synthetic
