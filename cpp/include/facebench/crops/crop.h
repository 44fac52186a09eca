#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "facebench/core/options.h"
#include "facebench/core/registry.h"
#include "facebench/detection/face.h"
#include "facebench/images/image.h"
#include "facebench/images/warp.h"
#include "facebench/io/sample_status.h"

namespace facebench {

struct CropOptions {
  std::string name = "arcface112";
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::string interpolation = "bilinear";
  double margin = -1;
  std::int64_t border = 0;

  static void describe(OptionsBuilder<CropOptions>& o) {
    o.name("CropOptions", "How a face is cut out of its image.");
    o.choice("name", &CropOptions::name, "which crop", {"paper", "arcface112"});
    o.field("width", &CropOptions::width, "pixels; 0 = the crop's own", 0, 4096);
    o.field("height", &CropOptions::height, "pixels; 0 = the crop's own", 0, 4096);
    o.choice("interpolation", &CropOptions::interpolation,
             "of box crops; aligned crops are always bilinear",
             {"nearest", "bilinear", "bicubic", "area", "bilinear_antialias"});
    o.field("margin", &CropOptions::margin,
            "added on each side of the box, as a share of the box's side; -1 = the crop's own", -1,
            10);
    o.field("border", &CropOptions::border, "value outside the image, for aligned crops", 0, 255);
  }
};

// One way to cut out a face. Either a box enlarged by `margin`, or five landmarks moved onto
// `landmarks` by the similarity that fits best.
struct CropEntry {
  std::string name;
  std::string doc;
  int width;
  int height;
  bool aligned;  // needs landmarks
  double margin;
  Landmarks landmarks;
};
// paper: the box enlarged by 15 % of its width (height) on each side, corners truncated to whole
//   pixels, clipped to the image, resized to the asked size without keeping its shape (Wang & Guo
//   2019, the pre-processing of VGGFace2); no alignment. 112 x 112 unless asked otherwise.
// arcface112: five landmarks onto the 112 x 112 template that ArcFace and most later work use
//   (Deng et al., CVPR 2019), black outside. Another size scales the template.
const Table<CropEntry>& crops();

// A crop, or the reason why there is none.
struct Crop {
  SampleStatus status = SampleStatus::ok;  // ok or rejected
  std::string reason;                      // empty where ok
  Image image;                             // empty where rejected
};

// Cuts one face out, in the image's own colour order. A face that cannot be cut (no landmarks where
// they are needed, landmarks on one point, a box outside the image or without area, coordinates
// that are not numbers) is rejected with a reason. Throws std::invalid_argument for wrong options.
Crop crop_face(const Image& image, const Face& face, const CropOptions& options = {});

// The similarity (rotation, uniform scale, translation; never a reflection) that maps `from` onto
// `to` with the least sum of squared distances. Umeyama, PAMI 1991, eq. 40-42, in closed form for
// the plane. Throws std::invalid_argument where there are fewer than two points, the lengths
// differ, or all points of `from` are one.
Affine fit_similarity(std::span<const Point> from, std::span<const Point> to);

}  // namespace facebench
