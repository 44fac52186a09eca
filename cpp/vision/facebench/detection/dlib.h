#pragma once

#include <cstdint>
#include <memory>

#include "facebench/core/options_fwd.h"
#include "facebench/detection/detector.h"
#include "facebench/detection/face.h"
#include "facebench/images/image.h"

namespace facebench {

// dlib's detectors. x1, y1 are one past dlib's inclusive right and bottom. They find faces of about
// 80 pixels and more, of 40 with one upsampling.
struct HogOptions {
  std::int64_t upsample = 1;
  double threshold = 0;

  static void describe(OptionsBuilder<HogOptions>& o);
};

// Frontal faces by histograms of oriented gradients and a linear SVM on five views (Dalal & Triggs,
// CVPR 2005; King, arXiv:1502.00046). Boxes only.
std::unique_ptr<Detector> make_hog(const HogOptions& options);
// The same boxes, and in each the five points of dlib's predictor (Kazemi & Sullivan, CVPR 2014),
// whole pixels: LandmarkKind::eye_corners. Throws Error where its file is missing or another
// (detection/dlib_models.h).
std::unique_ptr<Detector> make_dlib(const HogOptions& options);
// dlib's CNN detector, which also finds turned and covered faces, computed by kernels of ours
// (scores within 1e-4 of dlib's), and the same five points. Takes about four times as long as hog.
// Throws as make_dlib.
std::unique_ptr<Detector> make_dlib_cnn(const HogOptions& options);

// The face as dlib::extract_image_chip cuts it out: the similarity that fits `to` (points of the
// crop) best to `from` (points of the image), bilinear, out of an image halved as often as the crop
// is less than half as large; black outside.
Image dlib_chip(const Image& image, const Landmarks& from, const Landmarks& to, int width,
                int height);

}  // namespace facebench
