#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "facebench/core/options_fwd.h"
#include "facebench/core/registry.h"
#include "facebench/crops/landmark_check.h"
#include "facebench/detection/face.h"
#include "facebench/images/image.h"
#include "facebench/images/warp.h"
#include "facebench/io/sample_status.h"

namespace facebench {

struct CropOptions {
  std::string name = "arcface112";
  std::optional<std::int64_t> width;
  std::optional<std::int64_t> height;
  std::optional<std::string> interpolation;
  std::optional<double> margin;
  std::optional<double> margin_pixels;
  std::int64_t border = 0;
  std::optional<std::string> warp;

  static void describe(OptionsBuilder<CropOptions>& o);
};

// One way to cut out a face. Either a box (brought to `aspect`, enlarged by `margin` of its sides
// and by `margin_pixels` on each side, corners truncated to whole pixels, clipped to the image,
// resized without keeping its shape), or five landmarks moved onto `landmarks` by the similarity
// that fits best.
struct CropEntry {
  std::string name;
  std::string doc;
  int width;
  int height;
  bool aligned;  // needs landmarks, of this kind
  Landmarks landmarks{};
  double margin = 0;
  double margin_pixels = 0;
  double aspect = 0;  // width / height, about the same centre, same height; 0 = as it is
  std::string interpolation = "bilinear";
  LandmarkKind kind = LandmarkKind::eyes_and_mouth;
};
// paper: 15 % of its width (height) on each side (Wang & Guo 2019); no alignment. 112 x 112 unless
//   asked otherwise.
// facenet: 22 pixels of the image on each side, 182 x 182, antialiased (facenet's
//   align_dataset_mtcnn.py with --margin 44 --image_size 182, whose interpolation is PIL's).
// vggface2_tight: 0.3 in all on a box 7/8 as wide as high. The data set's own detector gives boxes
//   of that shape; its released tight crops are such windows (docs/detection.md has the figures).
//   224 x 224.
// arcface112: five landmarks onto the 112 x 112 template that ArcFace and most later work use
//   (Deng et al., CVPR 2019), black outside. Another size scales the template.
// sphereface112x96: the same eight pixels further left, 112 high and 96 wide (Liu et al.,
//   SphereFace, CVPR 2017; Wen et al., center loss, ECCV 2016).
// dlib150: corners of the eyes and base of the nose onto dlib's mean face, 150 x 150 with 25 % of
//   padding, by dlib's own code; black outside (dlib 19, get_face_chip_details).
const Table<CropEntry>& crops();

// Throws std::invalid_argument where the crop needs landmarks that this detector does not find.
void require_landmarks(std::string_view detector, std::string_view crop);

// The options with everything that was left to the crop filled in, as manifests record them. Throws
// std::invalid_argument for wrong options.
CropOptions resolve_crop(const CropOptions& options);

// The version of OpenCV where its pixels are those of this crop, "4.6.0"; empty where OpenCV has no
// part in them, or gives the same with each version from 4.6 to 5.0 (interpolations but bicubic).
std::string opencv_of_crop(const CropOptions& options);

// Whole pixels of an image, [x0, x1) x [y0, y1).
struct CropWindow {
  int x0, y0, x1, y1;
};
// What a box crop cuts out of an image of this size, before it is resized; nothing where the box
// holds no number or has no pixel inside. Throws std::invalid_argument for wrong options or an
// aligned crop.
std::optional<CropWindow> crop_window(int width, int height, const Face& face,
                                      const CropOptions& options);

// A crop, or the reason why there is none.
struct Crop {
  SampleStatus status = SampleStatus::ok;     // ok or rejected
  std::string reason;                         // empty where ok
  Image image;                                // empty where rejected
  LandmarkDoubt doubt = LandmarkDoubt::none;  // of the landmarks that an aligned crop was made by
};

// Cuts one face out, in the image's own colour order. A face that cannot be cut (no landmarks where
// they are needed, landmarks that coincide, a box outside the image or without area, coordinates
// that are not numbers) is rejected with a reason. Throws std::invalid_argument for wrong options.
Crop crop_face(const Image& image, const Face& face, const CropOptions& options = {});

// The similarity (rotation, uniform scale, translation; never a reflection) that maps `from` onto
// `to` with the least sum of squared distances. Umeyama, PAMI 1991, eq. 40-42, in closed form for
// the plane. Throws std::invalid_argument where there are fewer than two points, the lengths
// differ, or all points of `from` coincide.
Affine fit_similarity(std::span<const Point> from, std::span<const Point> to);

}  // namespace facebench
