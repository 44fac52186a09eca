// From the bytes of a picture to crops of its faces.
// Sources: cpp/vision/facebench/images/decode.cc cpp/vision/facebench/images/jpeg.cc
//   cpp/vision/facebench/images/png.cc cpp/vision/facebench/images/pnm.cc
//   cpp/vision/facebench/images/bmp.cc cpp/vision/facebench/images/tiff.cc
//   cpp/vision/facebench/images/webp.cc cpp/vision/facebench/images/exif.cc
//   cpp/vision/facebench/images/unpack.cc
// Not of the reader: read_image encode_jpeg encode_png encode_pnm on_write_error write_bytes
//   write_pixels write_jpeg_pixels
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>

#include "facebench/crops/crop.h"
#include "facebench/detection/detector.h"
#include "facebench/detection/mtcnn.h"
#include "facebench/images/decode.h"
#include "facebench/images/resize.h"
#include "fuzz.h"

namespace {

using facebench::Detector;

// Thresholds that find faces in anything; nothing where the weights were not built.
std::unique_ptr<Detector> eager(const char* mode) {
  try {
    facebench::default_mtcnn_weights();
  } catch (const facebench::Error&) {
    return nullptr;
  }
  return facebench::make_detector(
      "mtcnn", {{"mode", mode}, {"min_face", 12}, {"thresholds", {0.1, 0.01, 0.003}}});
}

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

FACEBENCH_FUZZ_TARGET(image, bytes) {
  facebench::DecodeOptions options;
  options.max_pixels = 1 << 20;
  options.exif_orientation = bytes.size() % 2 == 1;
  const facebench::Image image =
      facebench::decode_image(std::as_bytes(std::span(bytes)), options, "fuzz");
  require(image.data.size() == image.stride() * image.height);
  const facebench::Image part =
      facebench::cut(image, 0, 0, std::min(image.width, 70), std::min(image.height, 60));
  static const auto first = eager("facenet"), second = eager("facenet_pytorch"),
                    third = eager("matlab");
  for (const Detector* detector : {first.get(), second.get(), third.get()}) {
    if (!detector) continue;
    for (const facebench::Face& face : detector->detect(part)) {
      require(std::isfinite(face.box.x0 + face.box.y0 + face.box.x1 + face.box.y1 + face.score));
      for (const facebench::CropEntry& crop : facebench::crops().entries()) {
        facebench::CropOptions crop_options;
        crop_options.name = crop.name;
        facebench::crop_face(part, face, crop_options);
      }
    }
  }
}
