#include "facebench/metrics/statistic.h"

#include <algorithm>
#include <utility>

#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/roc.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {
double Statistic::evaluate(std::span<const Weight> weights) const {
  return of_curve ? of_curve(scores->roc(weights)) : of_weights(weights);
}

Statistic::Base base_of(std::shared_ptr<const ScoreSet> s, bool genuine) {
  const std::int64_t count = genuine ? s->genuine() : s->impostor();
  return {count, [s = std::move(s), genuine] { return s->taking_part(genuine); }};
}

Statistic curve_statistic(std::string name, std::shared_ptr<const ScoreSet> scores,
                          double (*value)(const RocCurve&), double resolution) {
  Statistic s;
  s.name = std::move(name);
  s.resolution = resolution;
  s.bases = {base_of(scores, true), base_of(scores, false)};
  s.scores = std::move(scores);
  using Value = double (*)(const RocCurve&);
  if (value == static_cast<Value>(auc)) s.part = CurvePart::area;
  if (value == static_cast<Value>(eer)) s.part = CurvePart::crossing;
  s.of_curve = [value](const RocCurve& curve) {
    return curve.genuine == 0 || curve.impostor == 0 ? nan : value(curve);
  };
  return s;
}

Statistic auc_statistic(std::shared_ptr<const ScoreSet> s) {
  const double step = 1 / (static_cast<double>(s->genuine()) * static_cast<double>(s->impostor()));
  Statistic statistic = curve_statistic("auc", std::move(s), auc, step);
  statistic.graded = true;
  return statistic;
}

Statistic eer_statistic(std::shared_ptr<const ScoreSet> s) {
  const double step = 1 / static_cast<double>(std::min(s->genuine(), s->impostor()));
  return curve_statistic("eer", std::move(s), eer, step);
}

Statistic tar_at_far_statistic(std::shared_ptr<const ScoreSet> s, double far,
                               std::string_view convention) {
  // Checks the arguments once, not in each replicate.
  const double value = tar_at_far(*s, far, convention).value;
  const TarAtFarConvention& rule = tar_at_far_conventions().at(convention);
  const double step = 1 / static_cast<double>(s->genuine());
  Statistic statistic;
  statistic.name = "tar_at_far";
  statistic.resolution = step;
  statistic.bases = {base_of(s, true)};
  if (rule.of_folds) {
    statistic.of_weights = [s, far, &rule](std::span<const Weight> w) {
      return s->tar_over_folds(rule, far, w).value;
    };
    return statistic;
  }
  // The curves of very many comparisons hold every TAR, but impostor scores only between them. The
  // exact rule needs no more; others may look at the next genuine score, and past the FAR.
  const bool exact = rule.of_curve == exact_tar_at_far;
  if (!exact) statistic.known = value;
  if (exact) {
    statistic.part = CurvePart::far;
    statistic.far_needed = far;
  }
  statistic.scores = std::move(s);
  statistic.of_curve = [far, &rule](const RocCurve& curve) {
    return rule.of_curve(curve, far).value;
  };
  return statistic;
}

Statistic threshold_statistic(std::shared_ptr<const ScoreSet> s, double far) {
  tar_at_far(*s, far);
  return {"threshold_at_far",
          [s, far](std::span<const Weight> w) {
            return exact_tar_at_far(s->roc_near(far, w), far).threshold;
          },
          0, false};
}

Statistic accuracy_statistic(std::shared_ptr<const Comparisons> c, std::string_view convention) {
  accuracy(*c, convention);
  const AccuracyConvention& rule = accuracy_conventions().at(convention);
  return {"accuracy",
          [c, &rule](std::span<const Weight> w) { return measure_accuracy(*c, rule, w).value; },
          1 / static_cast<double>(c->size())};
}

}  // namespace facebench
