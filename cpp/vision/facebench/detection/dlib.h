#pragma once

#include <cstdint>
#include <memory>

#include "facebench/core/options_fwd.h"
#include "facebench/detection/detector.h"

namespace facebench {

// dlib's frontal face detector: histograms of oriented gradients and a linear SVM on five views
// (Dalal & Triggs, CVPR 2005; King, arXiv:1502.00046). Boxes only; x1, y1 are one past dlib's
// inclusive right and bottom. Finds faces of about 80 pixels and more, of 40 with one upsampling.
struct HogOptions {
  std::int64_t upsample = 1;
  double threshold = 0;

  static void describe(OptionsBuilder<HogOptions>& o);
};

std::unique_ptr<Detector> make_hog(const HogOptions& options);

}  // namespace facebench
