#include "facebench/crops/landmark_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <utility>

namespace facebench {
namespace {

using PlanePoints = std::array<std::complex<double>, 5>;

constexpr double kMostMisfit = 0.6;  // as a share of the template's spread
constexpr double kFarthest = 0.75, kLeastSpread = 0.05, kMostSpread = 1;  // of the box's side

std::complex<double> mean_of(const PlanePoints& points) {
  std::complex<double> sum = 0;
  for (const auto& p : points) sum += p / 5.0;
  return sum;
}

PlanePoints about_mean(const Landmarks& landmarks) {
  PlanePoints points;
  for (std::size_t k = 0; k < 5; ++k) points[k] = {landmarks[k].x, landmarks[k].y};
  const std::complex<double> mean = mean_of(points);
  for (auto& p : points) p -= mean;
  return points;
}

double square_sum(const PlanePoints& points) {
  double sum = 0;
  for (const auto& p : points) sum += std::norm(p);
  return sum;
}

// Their correlation as complex numbers: its length is 1 where a similarity maps one onto the
// other, its angle that of the rotation.
std::complex<double> similarity_of(const PlanePoints& from, const PlanePoints& to) {
  const double scale = std::sqrt(square_sum(from) * square_sum(to));
  if (!(scale > 0)) return 0;
  std::complex<double> sum = 0;
  for (std::size_t k = 0; k < 5; ++k) sum += std::conj(from[k]) * to[k];
  return sum / scale;
}

double unexplained(std::complex<double> similarity) {
  return std::sqrt(std::max(0.0, 1 - std::norm(similarity)));
}

PlanePoints in_order(const PlanePoints& points, const std::array<int, 5>& order) {
  PlanePoints result;
  for (std::size_t k = 0; k < 5; ++k) result[k] = points[static_cast<std::size_t>(order[k])];
  return result;
}

// The mending that makes the landmarks fit best, among those that leave the face upright.
LandmarkDoubt likely_cause(const PlanePoints& points, const PlanePoints& target) {
  PlanePoints exchanged, flipped;
  for (std::size_t k = 0; k < 5; ++k) {
    exchanged[k] = {points[k].imag(), points[k].real()};
    flipped[k] = std::conj(points[k]);
  }
  const std::pair<LandmarkDoubt, PlanePoints> mended[] = {
      {LandmarkDoubt::left_right, in_order(points, {1, 0, 2, 4, 3})},
      {LandmarkDoubt::left_right, in_order(points, {1, 0, 2, 3, 4})},
      {LandmarkDoubt::left_right, in_order(points, {0, 1, 2, 4, 3})},
      {LandmarkDoubt::x_y, exchanged},
      {LandmarkDoubt::upside_down, flipped},
      {LandmarkDoubt::nose_first, in_order(points, {1, 2, 0, 3, 4})},
      {LandmarkDoubt::nose_first, in_order(points, {2, 1, 0, 4, 3})},
      {LandmarkDoubt::mouth_first, in_order(points, {3, 4, 2, 0, 1})},
  };
  LandmarkDoubt cause = LandmarkDoubt::no_face;
  double least = kMostMisfit;
  for (const auto& [doubt, candidate] : mended) {
    const std::complex<double> fit = similarity_of(candidate, target);
    // Exchanges of axes differ from those of sides by a quarter or half of a turn alone.
    if (std::abs(std::arg(fit)) > std::acos(-1) / 4 || !(unexplained(fit) < least)) continue;
    least = unexplained(fit);
    cause = doubt;
  }
  return cause;
}

bool fits_box(const Face& face, const PlanePoints& points) {
  double x = 0, y = 0;
  for (const Point& p : face.landmarks) {
    x += p.x / 5.0;
    y += p.y / 5.0;
  }
  const double width = face.box.width(), height = face.box.height();
  const double dx = (x - (face.box.x0 + face.box.x1) / 2.0) / width;
  const double dy = (y - (face.box.y0 + face.box.y1) / 2.0) / height;
  const double spread = std::sqrt(square_sum(points) / 5 / (width * height));
  return std::abs(dx) <= kFarthest && std::abs(dy) <= kFarthest && spread >= kLeastSpread &&
         spread <= kMostSpread;
}

}  // namespace

std::string_view landmark_doubt_text(LandmarkDoubt doubt) {
  switch (doubt) {
    case LandmarkDoubt::none:
      return "";
    case LandmarkDoubt::left_right:
      return "left and right seem exchanged, or mirrored";
    case LandmarkDoubt::x_y:
      return "x and y seem exchanged";
    // A face upside down and one with eyes and mouth exchanged differ by less than faces do.
    case LandmarkDoubt::upside_down:
    case LandmarkDoubt::mouth_first:
      return "y seems to count from below, or the mouth to come before the eyes";
    case LandmarkDoubt::nose_first:
      return "the nose seems to come first";
    case LandmarkDoubt::no_face:
      return "they do not lie as a face's in any known order";
    case LandmarkDoubt::box:
      return "they do not lie in their box: relative to it, or of another scale";
  }
  return "";
}

LandmarkDoubt doubt_of_landmarks(const Face& face, const Landmarks& target) {
  const PlanePoints points = about_mean(face.landmarks), to = about_mean(target);
  if (unexplained(similarity_of(points, to)) > kMostMisfit) return likely_cause(points, to);
  const bool has_box = face.box.width() > 0 && face.box.height() > 0;
  return has_box && !fits_box(face, points) ? LandmarkDoubt::box : LandmarkDoubt::none;
}

}  // namespace facebench
