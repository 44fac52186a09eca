#pragma once

#include <vector>

#include "facebench/images/image.h"
#include "facebench/synthetic/nuisance.h"
#include "facebench/synthetic/render/math.h"

namespace facebench::synthetic {

// What the camera makes of the light: exposure with a soft shoulder and gamma 2.2, then the faults
// that the nuisance asks for, in the order of a real camera: lost resolution, blur, noise.
Image expose(const std::vector<Vec3>& light, int size, const FaceNuisance& nuisance);

}  // namespace facebench::synthetic
