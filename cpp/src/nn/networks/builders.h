#pragma once

#include "facebench/nn/networks.h"

namespace facebench {

// One function a network, each in a file of its family; the table in networks.cc lists them.
Graph build_mobilefacenet(const NetworkOptions& options);
Graph build_small4(const NetworkOptions& options);
Graph build_sphereface4(const NetworkOptions& options);
Graph build_sphereface10(const NetworkOptions& options);
Graph build_sphereface20(const NetworkOptions& options);
Graph build_sphereface36(const NetworkOptions& options);
Graph build_sphereface64(const NetworkOptions& options);

}  // namespace facebench
