#pragma once

#include <cstdint>
#include <memory>

#include "facebench/core/options.h"
#include "facebench/detection/detector.h"

namespace facebench {

// dlib's frontal face detector: histograms of oriented gradients and a linear SVM on five views
// (Dalal & Triggs, CVPR 2005; King, arXiv:1502.00046). Boxes only; x1, y1 are one past dlib's
// inclusive right and bottom. Finds faces of about 80 pixels and more, of 40 with one upsampling.
struct HogOptions {
  std::int64_t upsample = 1;
  double threshold = 0;

  static void describe(OptionsBuilder<HogOptions>& o) {
    o.name("HogOptions", "dlib's frontal face detector.");
    o.field("upsample", &HogOptions::upsample, "times that the image is doubled first", 0, 4);
    o.field("threshold", &HogOptions::threshold,
            "least distance from the decision; lower finds more and errs more", -10, 10);
  }
};

std::unique_ptr<Detector> make_hog(const HogOptions& options);

}  // namespace facebench
