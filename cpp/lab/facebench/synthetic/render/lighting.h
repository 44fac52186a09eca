#pragma once

#include "facebench/synthetic/nuisance.h"
#include "facebench/synthetic/render/surface.h"

namespace facebench::synthetic {

// One lamp, a weak one opposite, and light from everywhere (more from above), in linear light.
class Lighting {
 public:
  explicit Lighting(const FaceNuisance& nuisance);

  // Where the lamp stands, unit length.
  Vec3 direction() const { return lamp_; }
  Vec3 shade(const Material& material, const Fragment& at) const;

 private:
  Vec3 lamp_, fill_, halfway_, color_;
  float key_, ambient_;
};

}  // namespace facebench::synthetic
