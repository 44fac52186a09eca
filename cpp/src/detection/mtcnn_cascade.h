#pragma once

#include <vector>

#include "detection/mtcnn_boxes.h"
#include "detection/mtcnn_networks.h"
#include "facebench/detection/face.h"
#include "facebench/detection/mtcnn.h"
#include "facebench/images/image.h"

namespace facebench {

// The options of MTCNN with their words resolved.
struct MtcnnRules {
  bool power_scales, ceil_size, uint8_levels, double_levels, double_crops, zero_pad, round_square;
  bool columns_first, mirror_single, transpose_single, mirror_landmarks, double_arithmetic;
  NmsRule within_level, over_levels, after_rnet, after_onet;

  explicit MtcnnRules(const MtcnnOptions& options);
};

// All three stages on one rgb image.
std::vector<Face> run_mtcnn(const Image& image, const MtcnnOptions& options,
                            const MtcnnRules& rules, MtcnnNetworks& networks);

}  // namespace facebench
