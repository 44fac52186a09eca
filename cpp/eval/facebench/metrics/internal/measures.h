#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/interval.h"
#include "facebench/metrics/tar_at_far.h"

// What the public functions and the bootstrap share: weights already in the sorted order, NaN
// instead of an exception where a value is undefined.
namespace facebench {

struct RocCurve;

__extension__ typedef __int128 Wide;  // products of two counts stay exact

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}
// Each count over the total; NaN where the total is 0.
std::vector<double> rates(std::span<const std::int64_t> counts, std::int64_t total);

// (1 + level) / 2; throws std::invalid_argument unless level lies in (0, 1).
double half_level(double level);
// An interval's bound, to 2^-40.
double rounded_bound(double bound);

// wilson() of a share of any size, and of trials that need not be a whole number.
Interval wilson_of_share(double share, double trials, double level);

// Whether at least ten errors are expected; 0.01 * 1000 counts as 10 despite rounding.
inline bool enough_expected(double expected) { return expected >= 10 * (1 - 1e-12); }

// The threshold of point i of a curve over all distinct scores (descending, the first infinite): in
// the middle between the last accepted and the first rejected score, where there are both.
double threshold_of_point(std::span<const double> thresholds, std::size_t i);

// Throws std::invalid_argument as the constructor of Comparisons says: of comparison i alone, and
// of all.
void check_comparison(std::size_t i, double score, std::uint8_t label);
void check_comparisons(std::span<const double> scores, std::span<const std::uint8_t> labels);
// Throws std::invalid_argument where a score is not a cosine, allowing for the rounding of fp32.
void check_cosines(const Comparisons& comparisons, const char* kind, const std::string& convention);
// The squared distance of unit vectors with that cosine, negated: a key that rises with the score.
double negative_squared_distance(double cosine);

// Throws std::invalid_argument unless far lies in [0, 1].
void check_far(double far);
// Whether so many false accepts keep to a FAR. k / n rounds to the double nearest to the fraction,
// as the literal 0.001 does: a FAR of exactly the target is not lost to rounding, which far * n
// could do.
inline bool within_far(std::int64_t accepts, std::int64_t impostor, double far) {
  return ratio(accepts, impostor) <= far;
}
// The last point of a curve that keeps to a FAR.
std::size_t last_within_far(const RocCurve& curve, double far);
// The convention "exact": of a curve, or of the points of it that roc_near() gives. NaN where a
// class is empty, and where the curve ends before the FAR.
TarAtFar exact_tar_at_far(const RocCurve& curve, double far);
// A value that is NaN.
TarAtFar undefined_tar(double far);
// What is accepted down to point i of a curve.
TarAtFar tar_of_point(const RocCurve& curve, std::size_t i, double threshold);
// The points around a threshold: what is accepted above it (down to the score `accepted`, infinite
// where nothing is), and the highest score below it, where there is one.
RocCurve points_around(std::int64_t genuine, std::int64_t impostor, std::int64_t genuine_accepted,
                       std::int64_t false_accepts, double accepted, std::optional<double> rejected);
// Throws std::invalid_argument, naming `what`, where one of the counts is 0.
void require_both(std::int64_t genuine, std::int64_t impostor, const char* what);

// The corners of the curve's upper hull (numbers of points), from left to right, first and last
// point included. Scaling the axes does not change it.
std::vector<std::size_t> roc_convex_hull(const RocCurve& curve);

}  // namespace facebench
