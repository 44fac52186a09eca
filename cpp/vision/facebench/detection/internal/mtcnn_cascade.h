#pragma once

#include <vector>

#include "facebench/detection/face.h"
#include "facebench/detection/internal/mtcnn_networks.h"
#include "facebench/detection/internal/mtcnn_rules.h"
#include "facebench/detection/mtcnn_options.h"
#include "facebench/images/image.h"

namespace facebench {

// All three stages on one rgb image.
std::vector<Face> run_mtcnn(const Image& image, const MtcnnOptions& options,
                            const MtcnnRules& rules, MtcnnNetworks& networks);

}  // namespace facebench
