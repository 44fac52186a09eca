#include "facebench/detection/detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/detection/dlib.h"
#include "facebench/detection/given.h"
#include "facebench/detection/mtcnn.h"
#include "facebench/images/draw.h"

namespace facebench {
namespace {

// Options come from a caller here, so what is wrong with them is wrong use, not bad data.
template <class T>
T read_options(T options, const Json& given, std::string_view detector) {
  try {
    options_from_json(options, given, detector);
  } catch (const Error& e) {
    throw std::invalid_argument(e.what());
  }
  return options;
}

DetectorFinder& finder() {
  static DetectorFinder found;
  return found;
}

}  // namespace

std::vector<Face> Detector::detect(const Image& image, std::string_view sample_id) const {
  check_image(image);
  if (image.order == ColorOrder::rgb) return find(image, sample_id);
  return find(convert_color(image, ColorOrder::rgb), sample_id);
}

const Table<DetectorEntry>& detectors() {
  static const Table<DetectorEntry> table(
      "detector",
      {{"mtcnn", "cascade of three networks: boxes, scores, five landmarks",
        &options_schema<MtcnnOptions>(),
        [](const Json& o) { return make_mtcnn(read_options(MtcnnOptions{}, o, "mtcnn")); }},
       {"hog", "dlib's frontal faces, HOG and SVM: boxes and scores", &options_schema<HogOptions>(),
        [](const Json& o) { return make_hog(read_options(HogOptions{}, o, "hog")); },
        LandmarkKind::none},
       {"dlib", "the faces of hog with dlib's five points: corners of the eyes and the nose",
        &options_schema<HogOptions>(),
        [](const Json& o) { return make_dlib(read_options(HogOptions{}, o, "dlib")); },
        LandmarkKind::eye_corners},
       {"dlib_cnn",
        "dlib's CNN detector: boxes, scores, the five points of dlib; turned and covered faces too",
        &options_schema<HogOptions>(),
        [](const Json& o) { return make_dlib_cnn(read_options(HogOptions{}, o, "dlib_cnn")); },
        LandmarkKind::eye_corners},
       {"given", "boxes and landmarks from a file, by sample id", &options_schema<GivenOptions>(),
        [](const Json& o) { return make_given(read_options(GivenOptions{}, o, "given")); },
        LandmarkKind::any}});
  return table;
}

void set_detector_finder(DetectorFinder set) { finder() = std::move(set); }

DetectorEntry detector_named(std::string_view name) {
  const DetectorEntry* entry = detectors().find(name);
  if (entry == nullptr && finder()) return finder()(name);
  return detectors().at(name);
}

void check_stated_detector(std::string_view name, std::string_view who) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  if (!std::ranges::all_of(name, plain))
    fail("detector",
         fmt::format("the {} names '{}', which is code or a file", who, printable(name)),
         "Name a detector yourself (--detector)");
}

std::unique_ptr<Detector> make_detector(std::string_view name, const Json& options) {
  return detector_named(name).make(options.is_null() ? Json::object() : options);
}

void Detector::check_sample_ids(std::span<const Image> images,
                                std::span<const std::string> sample_ids) {
  if (!sample_ids.empty() && sample_ids.size() != images.size())
    throw std::invalid_argument("there must be as many sample ids as images, or none");
}

std::vector<std::vector<Face>> Detector::detect_all(std::span<const Image> images,
                                                    std::span<const std::string> sample_ids,
                                                    const Job& job) const {
  check_sample_ids(images, sample_ids);
  std::vector<std::vector<Face>> result(images.size());
  Stage stage(job, "detecting", static_cast<std::int64_t>(images.size()), "images");
  parallel_for(
      static_cast<std::int64_t>(images.size()), job,
      [&](std::int64_t i, int) {
        result[i] = detect(images[i], sample_ids.empty() ? std::string_view() : sample_ids[i]);
      },
      &stage);
  return result;
}

Image draw_faces(const Image& image, std::span<const Face> faces, int selected) {
  Image result = convert_color(image, ColorOrder::rgb);
  const int thickness = std::max(1, std::min(image.width, image.height) / 200);
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const Face& f = faces[i];
    const Color color = static_cast<int>(i) == selected ? Color{64, 224, 64} : Color{255, 176, 0};
    draw_rectangle(result, f.box.x0, f.box.y0, f.box.x1, f.box.y1, color, thickness);
    if (!f.has_landmarks) continue;
    for (const Point& p : f.landmarks) draw_point(result, p.x, p.y, {255, 64, 64}, thickness);
  }
  return result;
}

}  // namespace facebench
