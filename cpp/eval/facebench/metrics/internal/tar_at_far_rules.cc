#include "facebench/metrics/internal/tar_at_far_rules.h"

#include <algorithm>
#include <cmath>

#include "facebench/metrics/internal/measures.h"

namespace facebench {
namespace {

// What a threshold gives.
TarAtFar counted(const RocCurve& curve, double threshold, bool accept_equal) {
  // The last point whose scores are all accepted.
  std::size_t i = 0;
  while (i + 1 < curve.size() &&
         (accept_equal ? curve.threshold[i + 1] >= threshold : curve.threshold[i + 1] > threshold))
    ++i;
  return tar_of_point(curve, i, threshold);
}

bool one_class(const RocCurve& c) { return c.genuine == 0 || c.impostor == 0; }

// The k-th highest impostor score, 1 <= k <= impostors.
double impostor_score(const RocCurve& curve, std::int64_t k) {
  std::size_t i = 0;
  while (curve.false_accepts[i] < k) ++i;
  return curve.threshold[i];
}

TarAtFar rounded_count(const RocCurve& curve, double far, double epsilon) {
  if (one_class(curve)) return undefined_tar(far);
  // To even, as numpy rounds.
  const auto k =
      static_cast<std::int64_t>(std::nearbyint(static_cast<double>(curve.impostor) * far));
  return counted(curve, k == 0 ? impostor_score(curve, 1) + epsilon : impostor_score(curve, k),
                 true);
}

// Rules that interpolate have no threshold: the counts beside the value are those of the last exact
// point within the target, and `value` lies between it and the next.
TarAtFar interpolated(const RocCurve& curve, double far, double value) {
  TarAtFar cell = counted(curve, curve.threshold[last_within_far(curve, far)], true);
  cell.value = value;
  return cell;
}

}  // namespace

TarAtFar ijb_tar_at_far(const RocCurve& curve, double far) {
  if (one_class(curve)) return undefined_tar(far);
  // scikit-learn's roc_curve leaves out points in the middle of a straight run of equal steps,
  // which it looks for before it puts the point that accepts nothing in front.
  const auto bends = [&](std::size_t i) {
    const auto second = [i](const std::vector<std::int64_t>& n) {
      return n[i + 1] - 2 * n[i] + n[i - 1];
    };
    return second(curve.true_accepts) != 0 || second(curve.false_accepts) != 0;
  };
  std::size_t best = 0;
  double nearest = far;  // of the first point, whose FAR is 0
  for (std::size_t i = 1; i < curve.size(); ++i) {
    if (i > 1 && i + 1 < curve.size() && !bends(i)) continue;
    const double distance = std::abs(ratio(curve.false_accepts[i], curve.impostor) - far);
    if (distance <= nearest) {
      best = i;
      nearest = distance;
    }
  }
  return counted(curve, curve.threshold[best], true);
}

TarAtFar pfe_tar_at_far(const RocCurve& curve, double far) {
  return rounded_count(curve, far, 1e-8);
}

TarAtFar cvlface_tar_at_far(const RocCurve& curve, double far) {
  return rounded_count(curve, far, 1e-5);
}

TarAtFar ijb_1n_tar_at_far(const RocCurve& curve, double far) {
  const auto k = static_cast<std::int64_t>(std::ceil(static_cast<double>(curve.impostor) * far));
  if (one_class(curve) || k == 0) return undefined_tar(far);
  return counted(curve, impostor_score(curve, k), false);
}

TarAtFar bob_tar_at_far(const RocCurve& curve, double far) {
  if (curve.genuine == 0 || curve.impostor < 2) return undefined_tar(far);
  const double lowest = impostor_score(curve, curve.impostor);
  if (far >= 1 - std::numeric_limits<double>::epsilon())
    return counted(curve, std::nextafter(lowest, lowest - 1), true);
  const std::int64_t allowed = curve.false_accepts[last_within_far(curve, far)];
  const double highest = impostor_score(curve, 1);
  return counted(
      curve, allowed == 0 ? std::nextafter(highest, highest + 1) : impostor_score(curve, allowed),
      true);
}

TarAtFar openbr_tar_at_far(const RocCurve& curve, double far) {
  if (one_class(curve)) return undefined_tar(far);
  // In single precision, as the published program keeps scores and rates.
  struct Point {
    float far, tar;
  };
  std::vector<Point> points;
  std::int64_t false_before = 0, true_before = 0;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    if (i + 1 < curve.size() &&
        static_cast<float>(curve.threshold[i]) == static_cast<float>(curve.threshold[i + 1]))
      continue;  // the same score in single precision
    if (curve.false_accepts[i] <= false_before || curve.true_accepts[i] <= true_before) continue;
    false_before = curve.false_accepts[i];
    true_before = curve.true_accepts[i];
    points.push_back({static_cast<float>(false_before) / static_cast<float>(curve.impostor),
                      static_cast<float>(true_before) / static_cast<float>(curve.genuine)});
  }
  if (points.empty()) points.push_back({1, 1});
  if (points.size() == 1) points.insert(points.begin(), {0, 0});
  if (points.size() > 2) points.pop_back();

  const auto target = static_cast<float>(far);
  std::size_t i = 0;
  while (i < points.size() && points[i].far < target) ++i;
  if (i == points.size()) return interpolated(curve, far, 1);
  const Point before = i == 0 ? Point{0, 0} : points[i - 1];
  const float slope = (points[i].tar - before.tar) / (points[i].far - before.far);
  const float offset = before.tar - slope * before.far;
  return interpolated(curve, far, static_cast<double>(slope * target + offset));
}

TarAtFar fare_tar_at_far(const RocCurve& curve, double far) {
  if (one_class(curve)) return undefined_tar(far);
  const std::size_t i = last_within_far(curve, far);
  const double x = ratio(curve.false_accepts[i], curve.impostor);
  const double y = ratio(curve.true_accepts[i], curve.genuine);
  if (i + 1 == curve.size() || x == far) return interpolated(curve, far, y);
  const double slope = (ratio(curve.true_accepts[i + 1], curve.genuine) - y) /
                       (ratio(curve.false_accepts[i + 1], curve.impostor) - x);
  return interpolated(curve, far, slope * (far - x) + y);
}

TarAtFar insightface_gui_tar_at_far(const RocCurve& curve, double far) {
  const auto allowed =
      static_cast<std::int64_t>(std::floor(far * static_cast<double>(curve.impostor)));
  if (one_class(curve) || allowed == 0) return undefined_tar(far);
  std::size_t i = 0;
  while (i + 1 < curve.size() && curve.false_accepts[i + 1] <= allowed) ++i;
  // Nothing is accepted: the threshold just above the highest impostor.
  return counted(curve, i == 0 ? threshold_above(impostor_score(curve, 1)) : curve.threshold[i],
                 true);
}

}  // namespace facebench
