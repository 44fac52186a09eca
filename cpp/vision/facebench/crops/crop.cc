#include "facebench/crops/crop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "facebench/core/options.h"
#include "facebench/detection/detector.h"
#include "facebench/detection/dlib.h"
#include "facebench/images/resize.h"

namespace facebench {
namespace {

Crop rejected(std::string reason) {
  return {SampleStatus::rejected, std::move(reason), {}, LandmarkDoubt::none};
}

bool finite(const Face& face, bool landmarks) {
  if (!landmarks)
    return std::isfinite(face.box.x0) && std::isfinite(face.box.y0) && std::isfinite(face.box.x1) &&
           std::isfinite(face.box.y1);
  return std::all_of(face.landmarks.begin(), face.landmarks.end(),
                     [](const Point& p) { return std::isfinite(p.x) && std::isfinite(p.y); });
}

std::optional<CropWindow> window_of(int width, int height, const Box& box, const CropEntry& entry,
                                    const CropOptions& resolved) {
  double x0 = box.x0, y0 = box.y0, x1 = box.x1, y1 = box.y1;
  if (!(x0 < x1 && y0 < y1)) return std::nullopt;  // a margin gives no area to what has none
  if (entry.aspect > 0) {
    const double middle = (x0 + x1) / 2, half = entry.aspect * (y1 - y0) / 2;
    x0 = middle - half;
    x1 = middle + half;
  }
  const double dx = *resolved.margin * (x1 - x0) + *resolved.margin_pixels;
  const double dy = *resolved.margin * (y1 - y0) + *resolved.margin_pixels;
  // Clipped first, so that whole pixels fit an int; truncation of what is inside is the same.
  const auto pixel = [](double v, int side) {
    return static_cast<int>(std::clamp(v, 0.0, static_cast<double>(side)));
  };
  const CropWindow window{pixel(x0 - dx, width), pixel(y0 - dy, height), pixel(x1 + dx, width),
                          pixel(y1 + dy, height)};
  if (window.x0 >= window.x1 || window.y0 >= window.y1) return std::nullopt;
  return window;
}

Crop crop_box(const Image& image, const Face& face, const CropEntry& entry,
              const CropOptions& resolved) {
  if (!finite(face, false)) return rejected("the box holds no number");
  const auto w = window_of(image.width, image.height, face.box, entry, resolved);
  if (!w) return rejected("the box has no pixels inside the image");
  return {SampleStatus::ok,
          {},
          resize(cut(image, w->x0, w->y0, w->x1, w->y1), static_cast<int>(*resolved.width),
                 static_cast<int>(*resolved.height), parse_interpolation(*resolved.interpolation)),
          LandmarkDoubt::none};
}

const Landmarks& template_of_other_kind(LandmarkKind kind) {
  return std::ranges::find_if(
             crops().entries(),
             [kind](const CropEntry& other) { return other.aligned && other.kind != kind; })
      ->landmarks;
}

Crop crop_aligned(const Image& image, const Face& face, const CropEntry& entry,
                  const CropOptions& resolved) {
  const auto width = static_cast<int>(*resolved.width);
  const auto height = static_cast<int>(*resolved.height);
  const auto border = static_cast<std::uint8_t>(resolved.border);
  if (!face.has_landmarks) return rejected("the crop needs landmarks, and the face has none");
  if (!finite(face, true)) return rejected("a landmark holds no number");
  Landmarks target = entry.landmarks;
  for (Point& p : target) {
    p.x = p.x * static_cast<float>(width) / static_cast<float>(entry.width);
    p.y = p.y * static_cast<float>(height) / static_cast<float>(entry.height);
  }
  if (entry.kind == LandmarkKind::eye_corners && border != 0)
    throw std::invalid_argument("crop " + entry.name + " is black outside the image: border is 0");
  Affine m{};
  try {
    m = fit_similarity(face.landmarks, target);
    invert_affine(m);
  } catch (const std::invalid_argument&) {
    return rejected("the landmarks lie on one point");
  }
  const LandmarkDoubt doubt =
      doubt_of_landmarks(face, {entry.landmarks, entry.kind}, template_of_other_kind(entry.kind));
  if (entry.kind == LandmarkKind::eye_corners)
    return {SampleStatus::ok, {}, dlib_chip(image, face.landmarks, target, width, height), doubt};
  return {SampleStatus::ok,
          {},
          warp_affine(image, m, width, height, border, parse_warp_rule(*resolved.warp)),
          doubt};
}

}  // namespace

void CropOptions::describe(OptionsBuilder<CropOptions>& o) {
  o.name("CropOptions", "How a face is cut out of its image.");
  o.choice("name", &CropOptions::name, "which crop",
           {"paper", "facenet", "vggface2_tight", "arcface112", "sphereface112x96", "dlib150"});
  o.field("width", &CropOptions::width, "pixels; default: the crop's own", 1, 4096);
  o.field("height", &CropOptions::height, "pixels; default: the crop's own", 1, 4096);
  o.choice("interpolation", &CropOptions::interpolation,
           "of box crops; default: the crop's own; aligned crops are always bilinear",
           {"nearest", "bilinear", "bicubic", "area", "bilinear_antialias"});
  o.field("margin", &CropOptions::margin,
          "added on each side of the box, as a share of the box's side; default: the crop's own", 0,
          10);
  o.field("margin_pixels", &CropOptions::margin_pixels,
          "added on each side of the box, pixels of the image; default: the crop's own", 0, 1e4);
  o.field("border", &CropOptions::border, "value outside the image, for aligned crops", 0, 255);
  o.choice("warp", &CropOptions::warp,
           "how aligned crops round positions between pixels; default: opencv4, steps of 1/32",
           {"opencv4", "exact"});
}

const Table<CropEntry>& crops() {
  static const Table<CropEntry> table = [] {
    CropEntry paper{"paper", "box enlarged by 15 % on each side, clipped, resized; not aligned",
                    112, 112, false};
    paper.margin = 0.15;
    CropEntry facenet{"facenet", "box and 22 pixels on each side, clipped, resized; not aligned",
                      182, 182, false};
    facenet.margin_pixels = 22;
    facenet.interpolation = "bilinear_antialias";
    CropEntry tight{"vggface2_tight",
                    "box 7/8 as wide as high, enlarged by 15 % on each side, clipped, resized", 224,
                    224, false};
    tight.aspect = 0.875;
    tight.margin = 0.15;
    const CropEntry arcface{"arcface112",
                            "five landmarks onto ArcFace's 112 x 112 template",
                            112,
                            112,
                            true,
                            {{{38.2946f, 51.6963f},
                              {73.5318f, 51.5014f},
                              {56.0252f, 71.7366f},
                              {41.5493f, 92.3655f},
                              {70.7299f, 92.2041f}}}};
    const CropEntry sphereface{"sphereface112x96",
                               "five landmarks onto SphereFace's template, 112 high and 96 wide",
                               96,
                               112,
                               true,
                               {{{30.2946f, 51.6963f},
                                 {65.5318f, 51.5014f},
                                 {48.0252f, 71.7366f},
                                 {33.5493f, 92.3655f},
                                 {62.7299f, 92.2041f}}}};
    CropEntry dlib{"dlib150",
                   "corners of the eyes and base of the nose onto dlib's 150 x 150 mean face",
                   150,
                   150,
                   true,
                   {{{37.05750620789f, 46.37274526848f},
                     {110.95674595992f, 46.34981538014f},
                     {74.01123135679f, 87.77975316475f},
                     {58.40850613712f, 47.90642403242f},
                     {89.60604764104f, 47.89674387677f}}}};
    dlib.kind = LandmarkKind::eye_corners;
    return Table<CropEntry>("crop", {paper, facenet, tight, arcface, sphereface, dlib});
  }();
  return table;
}

void require_landmarks(std::string_view detector, std::string_view crop) {
  const LandmarkKind given_kind = detector_named(detector).landmarks;
  const CropEntry& entry = crops().at(crop);
  if (!entry.aligned || given_kind == entry.kind || given_kind == LandmarkKind::any) return;
  std::string fitting;
  for (const DetectorEntry& d : detectors().entries())
    if (d.landmarks == entry.kind) fitting += (fitting.empty() ? "" : ", ") + d.name;
  throw std::invalid_argument(fmt::format(
      "the detector '{}' finds no landmarks{}, and the crop '{}' needs them; take another crop "
      "(paper), or a detector that finds them ({})",
      detector, given_kind == LandmarkKind::none ? "" : " of that kind", crop, fitting));
}

CropOptions resolve_crop(const CropOptions& options) {
  check_options(options);
  const CropEntry& entry = crops().at(options.name);
  CropOptions result = options;
  if (!result.width) result.width = entry.width;
  if (!result.height) result.height = entry.height;
  if (!result.interpolation) result.interpolation = entry.interpolation;
  if (!result.margin) result.margin = entry.margin;
  if (!result.margin_pixels) result.margin_pixels = entry.margin_pixels;
  const bool warped = entry.aligned && entry.kind != LandmarkKind::eye_corners;
  if (!warped && result.warp)
    throw std::invalid_argument("crop " + entry.name + " is not warped: it takes no warp");
  if (warped && !result.warp) result.warp = "opencv4";
  return result;
}

std::string opencv_of_crop(const CropOptions& options) {
  return *resolve_crop(options).interpolation == "bicubic" ? opencv_version() : "";
}

std::optional<CropWindow> crop_window(int width, int height, const Face& face,
                                      const CropOptions& options) {
  const CropOptions resolved = resolve_crop(options);
  const CropEntry& entry = crops().at(options.name);
  if (entry.aligned)
    throw std::invalid_argument("crop " + entry.name + " is aligned: it has no window");
  if (!finite(face, false)) return std::nullopt;
  return window_of(width, height, face.box, entry, resolved);
}

Crop crop_face(const Image& image, const Face& face, const CropOptions& options) {
  check_image(image);
  const CropOptions resolved = resolve_crop(options);
  const CropEntry& entry = crops().at(options.name);
  if (!entry.aligned) return crop_box(image, face, entry, resolved);
  return crop_aligned(image, face, entry, resolved);
}

Affine fit_similarity(std::span<const Point> from, std::span<const Point> to) {
  if (from.size() != to.size() || from.size() < 2)
    throw std::invalid_argument(
        "a similarity needs at least two points, and as many on both sides");
  const auto n = static_cast<double>(from.size());
  double fx = 0, fy = 0, tx = 0, ty = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    fx += from[i].x / n;
    fy += from[i].y / n;
    tx += to[i].x / n;
    ty += to[i].y / n;
  }
  // In the plane the best rotation times scale is (a, b) = sum of conj(f) t over sum of |f|^2, with
  // points as complex numbers about their means.
  double a = 0, b = 0, spread = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double x = from[i].x - fx, y = from[i].y - fy;
    const double u = to[i].x - tx, v = to[i].y - ty;
    a += x * u + y * v;
    b += x * v - y * u;
    spread += x * x + y * y;
  }
  if (!(spread > 0)) throw std::invalid_argument("all points coincide");
  a /= spread;
  b /= spread;
  return {a, -b, tx - a * fx + b * fy, b, a, ty - b * fx - a * fy};
}

}  // namespace facebench
