#pragma once

#include "facebench/synthetic/render/mesh.h"
#include "facebench/synthetic/render/shape.h"

namespace facebench::synthetic {

// The bare head: smooth profiles, relief, ears; occlusion from the relief's hollows.
Mesh build_head(const FaceShape& face, int size);

}  // namespace facebench::synthetic
