#pragma once

#include <array>
#include <memory>

#include "facebench/detection/internal/mtcnn_boxes.h"
#include "facebench/detection/mtcnn_options.h"

namespace facebench {

// The choices in which published implementations of MTCNN differ. As initialised: those of
// facenet-pytorch.
struct MtcnnRules {
  // The pyramid. Scale of level i: multiplied step by step, or 12 / min_face * factor^i.
  bool power_scales = false;
  bool ceil_size = false;  // sides: floor(side * scale + 1), or ceil(side * scale)
  // A level: mean of whole pixels in float, or OpenCV's area filter, rounded to 8 bits or in double
  // precision.
  bool uint8_levels = false;
  bool double_levels = false;
  // Input of R-Net and O-Net: the same mean, or OpenCV's area filter in double precision.
  bool double_crops = false;
  // Crops that grow to that size: as OpenCV's area filter has it, or bilinear around pixel centres.
  bool centred_growth = false;
  bool zero_pad = false;      // boxes that leave the image: clamped, or padded with black
  bool round_square = false;  // boxes made square before R-Net and O-Net: rounded toward zero
  // Sides when overlap is computed: x1 - x0, or + 1; in the first three suppressions, in the last.
  bool plus_one = false;
  bool plus_one_last = true;
  // Of equal scores the last goes first, in the first three suppressions; the fourth does so
  // always.
  bool last_of_equal = false;
  bool columns_first = false;  // order of P-Net's candidates; matters among equal scores only
  // A level with one candidate reads its own cell, the cell mirrored left to right, or its index in
  // the transposed map.
  bool mirror_single = false;
  bool transpose_single = false;
  bool mirror_landmarks = false;   // their mean with those of the mirrored crop
  bool double_arithmetic = false;  // precision of box coordinates
  double landmark_offset = -1;     // added to landmarks, pixels

  // The four suppressions: within a level, over all levels, after R-Net, after O-Net.
  std::array<NmsRule, 4> nms(const MtcnnOptions& options) const;
};

// make_mtcnn() with other rules than those of options.mode.
std::unique_ptr<Detector> make_mtcnn(const MtcnnOptions& options, const MtcnnRules& rules);

}  // namespace facebench
