#pragma once

#include <span>

#include "facebench/synthetic/render/shape.h"

namespace facebench::synthetic {

// How far the skin stands out (+z) from the smooth head at (x[i], y), all in one row: brow ridge,
// sockets, eyeballs, nose, cheeks, lips, chin. `wrinkles` gets the fine lines apart, since they
// darken more than they displace. Same length for all three.
void relief_row(const FaceShape& face, float y, std::span<const float> x, std::span<float> relief,
                std::span<float> wrinkles);

}  // namespace facebench::synthetic
