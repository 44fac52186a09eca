#include "facebench/crops/landmark_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <span>

namespace facebench {
namespace {

using PlanePoints = std::array<std::complex<double>, 5>;

constexpr double kMostMisfit = 0.6;                 // as a share of the template's spread
constexpr double kMostTurn = std::numbers::pi / 3;  // of a face that stands
constexpr double kFarX = 0.6, kFarY = 0.35;         // of the box's width and height

// Between which shares of the box's side the spread is.
struct Spread {
  double least, most;
};
Spread spread_of(LandmarkKind kind) {
  return kind == LandmarkKind::eye_corners ? Spread{0.12, 0.4} : Spread{0.15, 0.45};
}

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

using Order = std::array<int, 5>;
struct Reordered {
  LandmarkDoubt doubt;
  Order order;
};

// The orders in which files have the points of a kind.
std::span<const Reordered> wrong_orders(LandmarkKind kind) {
  static constexpr Reordered eyes_and_mouth[] = {
      {LandmarkDoubt::left_right, {1, 0, 2, 4, 3}}, {LandmarkDoubt::left_right, {1, 0, 2, 3, 4}},
      {LandmarkDoubt::left_right, {0, 1, 2, 4, 3}}, {LandmarkDoubt::nose_first, {1, 2, 0, 3, 4}},
      {LandmarkDoubt::nose_first, {2, 1, 0, 4, 3}}, {LandmarkDoubt::mouth_first, {3, 4, 2, 0, 1}},
  };
  static constexpr Reordered eye_corners[] = {
      {LandmarkDoubt::left_right, {1, 0, 2, 4, 3}}, {LandmarkDoubt::left_right, {1, 0, 2, 3, 4}},
      {LandmarkDoubt::left_right, {0, 1, 2, 4, 3}}, {LandmarkDoubt::nose_first, {1, 2, 0, 3, 4}},
      {LandmarkDoubt::nose_first, {2, 1, 0, 4, 3}},
  };
  if (kind == LandmarkKind::eye_corners) return eye_corners;
  return eyes_and_mouth;
}

// The mending that makes the landmarks fit best, among those that leave the face upright.
LandmarkDoubt likely_cause(const PlanePoints& points, const PlanePoints& target, LandmarkKind kind,
                           const PlanePoints& other) {
  LandmarkDoubt cause = LandmarkDoubt::no_face;
  double least = kMostMisfit;
  const auto try_cause = [&](LandmarkDoubt doubt, const PlanePoints& candidate,
                             const PlanePoints& to) {
    const std::complex<double> fit = similarity_of(candidate, to);
    // Exchanges of axes differ from those of sides by a quarter or half of a turn alone.
    if (std::abs(std::arg(fit)) > std::numbers::pi / 4 || !(unexplained(fit) < least)) return;
    least = unexplained(fit);
    cause = doubt;
  };
  PlanePoints exchanged, flipped;
  for (std::size_t k = 0; k < 5; ++k) {
    exchanged[k] = {points[k].imag(), points[k].real()};
    flipped[k] = std::conj(points[k]);
  }
  try_cause(LandmarkDoubt::x_y, exchanged, target);
  try_cause(LandmarkDoubt::upside_down, flipped, target);
  for (const auto& [doubt, order] : wrong_orders(kind))
    try_cause(doubt, in_order(points, order), target);
  try_cause(LandmarkDoubt::other_kind, points, other);
  return cause;
}

// Whether the box is that of the landmarks themselves, as where a file has none.
bool says_nothing(const Box& box, const Landmarks& landmarks) {
  const auto [left, right] = std::ranges::minmax(landmarks, {}, &Point::x);
  const auto [top, bottom] = std::ranges::minmax(landmarks, {}, &Point::y);
  return !(box.width() > 0 && box.height() > 0) || box == Box{left.x, top.y, right.x, bottom.y};
}

bool fits_box(const Face& face, const PlanePoints& points, LandmarkKind kind) {
  double x = 0, y = 0;
  for (const Point& p : face.landmarks) {
    x += p.x / 5.0;
    y += p.y / 5.0;
  }
  const double width = face.box.width(), height = face.box.height();
  const double dx = (x - (face.box.x0 + face.box.x1) / 2.0) / width;
  const double dy = (y - (face.box.y0 + face.box.y1) / 2.0) / height;
  const double spread = std::sqrt(square_sum(points) / 5 / (width * height));
  const auto [least, most] = spread_of(kind);
  return std::abs(dx) <= kFarX && std::abs(dy) <= kFarY && spread >= least && spread <= most;
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
      return "they do not lie in their box as a face's: relative to it, of another scale, or the "
             "box is not the face's";
    case LandmarkDoubt::turned:
      return "they are of a face that is turned by more than 60 degrees: of the photograph before "
             "it was turned, or of a face that lies";
    case LandmarkDoubt::other_kind:
      return "they are other points of a face than this crop's: eyes, nose and mouth, or dlib's "
             "corners of the eyes";
  }
  return "";
}

LandmarkDoubt doubt_of_landmarks(const Face& face, const LandmarkTemplate& target,
                                 const Landmarks& other) {
  const PlanePoints points = about_mean(face.landmarks), to = about_mean(target.points);
  const std::complex<double> fit = similarity_of(points, to);
  if (unexplained(fit) > kMostMisfit)
    return likely_cause(points, to, target.kind, about_mean(other));
  if (std::abs(std::arg(fit)) > kMostTurn) return LandmarkDoubt::turned;
  if (says_nothing(face.box, face.landmarks) || fits_box(face, points, target.kind))
    return LandmarkDoubt::none;
  return LandmarkDoubt::box;
}

}  // namespace facebench
