#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/internal/rates.h"
#include "facebench/metrics/internal/value_checks.h"
#include "facebench/metrics/tar_at_far.h"

// What the public functions and the bootstrap share of curves and TARs: NaN instead of an exception
// where a value is undefined.
namespace facebench {

struct RocCurve;

// The threshold of point i of a curve over all distinct scores (descending, the first infinite): in
// the middle between the last accepted and the first rejected score, where there are both.
double threshold_of_point(std::span<const double> thresholds, std::size_t i);

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
// The corners of the curve's upper hull (numbers of points), from left to right, first and last
// point included. Scaling the axes does not change it.
std::vector<std::size_t> roc_convex_hull(const RocCurve& curve);

}  // namespace facebench
