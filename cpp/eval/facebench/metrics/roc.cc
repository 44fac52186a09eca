#include "facebench/metrics/roc.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "facebench/metrics/internal/measures.h"

namespace facebench {
namespace {

// Throws std::invalid_argument where a class is empty, and where the curve ends at the scores that
// were kept.
void require_whole(const RocCurve& c, const char* what) {
  require_both(c.genuine, c.impostor, what);
  if (!c.complete())
    throw std::invalid_argument(std::string(what) +
                                " needs every score, and only the highest were kept");
}

// Where the segment from a to b of the ROC crosses FPR = FNR, given FPR < FNR at a and >= at b.
// With d = FA * genuine - FR * impostor (an integer) the crossing is at the share -d_a / (d_b -
// d_a) of the segment.
double crossing(const RocCurve& c, std::size_t a, std::size_t b) {
  const auto difference = [&](std::size_t i) {
    return Wide(c.false_accepts[i]) * c.genuine - Wide(c.genuine - c.true_accepts[i]) * c.impostor;
  };
  const Wide da = difference(a), db = difference(b);
  const double share = static_cast<double>(-da) / static_cast<double>(db - da);
  const auto rise = static_cast<double>(c.false_accepts[b] - c.false_accepts[a]);
  return (static_cast<double>(c.false_accepts[a]) + share * rise) / static_cast<double>(c.impostor);
}

// The first point with FPR >= FNR. Point 0 has FPR 0 and FNR 1, the last one FPR 1 and FNR 0.
bool past_equality(const RocCurve& c, std::size_t i) {
  return Wide(c.false_accepts[i]) * c.genuine >= Wide(c.genuine - c.true_accepts[i]) * c.impostor;
}

}  // namespace

std::vector<std::size_t> roc_convex_hull(const RocCurve& c) {
  std::vector<std::size_t> hull;
  for (std::size_t i = 0; i < c.size(); ++i) {
    while (hull.size() >= 2) {
      const std::size_t o = hull[hull.size() - 2], a = hull.back();
      const Wide turn =
          Wide(c.false_accepts[a] - c.false_accepts[o]) * (c.true_accepts[i] - c.true_accepts[o]) -
          Wide(c.true_accepts[a] - c.true_accepts[o]) * (c.false_accepts[i] - c.false_accepts[o]);
      if (turn < 0) break;  // a right turn: `a` is a corner of the hull
      hull.pop_back();
    }
    hull.push_back(i);
  }
  return hull;
}

RocCurve Comparisons::roc(std::span<const Weight> caller_weights) const {
  const std::vector<Weight> weights = sorted_weights(caller_weights);
  RocCurve c;
  c.threshold.reserve(size() + 1);
  c.true_accepts.reserve(size() + 1);
  c.false_accepts.reserve(size() + 1);
  c.threshold.push_back(std::numeric_limits<double>::infinity());
  c.true_accepts.push_back(0);
  c.false_accepts.push_back(0);
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    if (weights[i] == 0) continue;
    (labels_[i] ? c.genuine : c.impostor) += weights[i];
    if (c.threshold.back() != scores_[i]) {
      c.threshold.push_back(scores_[i]);
      c.true_accepts.push_back(c.genuine);
      c.false_accepts.push_back(c.impostor);
    } else {
      c.true_accepts.back() = c.genuine;
      c.false_accepts.back() = c.impostor;
    }
  }
  return c;
}

double auc(const RocCurve& c) {
  require_whole(c, "the AUC");
  // Twice the area of the trapezoids, in units of 1 / (genuine * impostor).
  Wide doubled = 0;
  for (std::size_t i = 1; i < c.size(); ++i)
    doubled += Wide(c.false_accepts[i] - c.false_accepts[i - 1]) *
               (c.true_accepts[i] + c.true_accepts[i - 1]);
  return static_cast<double>(doubled) / static_cast<double>(Wide(2) * c.genuine * c.impostor);
}

double eer(const RocCurve& c) {
  require_whole(c, "the EER");
  std::size_t i = 1;
  while (!past_equality(c, i)) ++i;
  return crossing(c, i - 1, i);
}

DetCurve det(const RocCurve& curve) {
  require_both(curve.genuine, curve.impostor, "the DET curve");
  return {curve.threshold, curve.fpr(), curve.fnr()};
}

}  // namespace facebench
