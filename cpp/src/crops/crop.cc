#include "facebench/crops/crop.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "facebench/images/resize.h"

namespace facebench {
namespace {

Crop rejected(std::string reason) { return {SampleStatus::rejected, std::move(reason), {}}; }

bool finite(const Face& face, bool landmarks) {
  if (!landmarks)
    return std::isfinite(face.box.x0) && std::isfinite(face.box.y0) && std::isfinite(face.box.x1) &&
           std::isfinite(face.box.y1);
  return std::all_of(face.landmarks.begin(), face.landmarks.end(),
                     [](const Point& p) { return std::isfinite(p.x) && std::isfinite(p.y); });
}

Crop crop_box(const Image& image, const Face& face, double margin, int width, int height,
              Interpolation interpolation) {
  if (!finite(face, false)) return rejected("the box holds no number");
  const Box& box = face.box;
  const double dx = margin * (static_cast<double>(box.x1) - box.x0);
  const double dy = margin * (static_cast<double>(box.y1) - box.y0);
  // Clipped first, so that whole pixels fit an int; truncation of what is inside is the same.
  const auto pixel = [](double v, int side) {
    return static_cast<int>(std::clamp(v, 0.0, static_cast<double>(side)));
  };
  const int x0 = pixel(box.x0 - dx, image.width), x1 = pixel(box.x1 + dx, image.width);
  const int y0 = pixel(box.y0 - dy, image.height), y1 = pixel(box.y1 + dy, image.height);
  if (x0 >= x1 || y0 >= y1) return rejected("the box has no pixels inside the image");
  return {SampleStatus::ok, {}, resize(cut(image, x0, y0, x1, y1), width, height, interpolation)};
}

Crop crop_aligned(const Image& image, const Face& face, const CropEntry& entry, int width,
                  int height, std::uint8_t border) {
  if (!face.has_landmarks) return rejected("the crop needs landmarks, and the face has none");
  if (!finite(face, true)) return rejected("a landmark holds no number");
  Landmarks target = entry.landmarks;
  for (Point& p : target) {
    p.x = p.x * static_cast<float>(width) / static_cast<float>(entry.width);
    p.y = p.y * static_cast<float>(height) / static_cast<float>(entry.height);
  }
  Affine m{};
  try {
    m = fit_similarity(face.landmarks, target);
    invert_affine(m);
  } catch (const std::invalid_argument&) {
    return rejected("the landmarks lie on one point");
  }
  return {SampleStatus::ok, {}, warp_affine(image, m, width, height, border)};
}

}  // namespace

const Table<CropEntry>& crops() {
  static const Table<CropEntry> table(
      "crop", {{"paper",
                "box enlarged by 15 % on each side, clipped, resized; not aligned",
                112,
                112,
                false,
                0.15,
                {}},
               {"arcface112",
                "five landmarks onto ArcFace's 112 x 112 template",
                112,
                112,
                true,
                0,
                {{{38.2946f, 51.6963f},
                  {73.5318f, 51.5014f},
                  {56.0252f, 71.7366f},
                  {41.5493f, 92.3655f},
                  {70.7299f, 92.2041f}}}}});
  return table;
}

Crop crop_face(const Image& image, const Face& face, const CropOptions& options) {
  check_image(image);
  check_options(options);
  const CropEntry& entry = crops().at(options.name);
  const int width = options.width ? static_cast<int>(options.width) : entry.width;
  const int height = options.height ? static_cast<int>(options.height) : entry.height;
  if (entry.aligned)
    return crop_aligned(image, face, entry, width, height,
                        static_cast<std::uint8_t>(options.border));
  const double margin = options.margin < 0 ? entry.margin : options.margin;
  return crop_box(image, face, margin, width, height, parse_interpolation(options.interpolation));
}

Affine fit_similarity(std::span<const Point> from, std::span<const Point> to) {
  if (from.size() != to.size() || from.size() < 2)
    throw std::invalid_argument("a similarity needs two or more points, as many on both sides");
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
  if (!(spread > 0)) throw std::invalid_argument("all points are one");
  a /= spread;
  b /= spread;
  return {a, -b, tx - a * fx + b * fy, b, a, ty - b * fx - a * fy};
}

}  // namespace facebench
