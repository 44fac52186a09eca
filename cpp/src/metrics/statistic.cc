#include "facebench/metrics/statistic.h"

#include <algorithm>
#include <utility>

#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/tar_at_far.h"
#include "metrics/measures.h"

namespace facebench {
namespace {

Statistic curve_statistic(std::string name, std::shared_ptr<const ScoreSet> scores,
                          double resolution, std::function<double(const RocCurve&)> of_curve,
                          double far_needed = 1) {
  return {std::move(name),     nullptr,   resolution, true, std::move(scores),
          std::move(of_curve), far_needed};
}

}  // namespace

double Statistic::evaluate(std::span<const Weight> weights) const {
  return of_curve ? of_curve(scores->roc(weights)) : of_weights(weights);
}

Statistic auc_statistic(std::shared_ptr<const ScoreSet> s) {
  const double step = 1 / (static_cast<double>(s->genuine()) * static_cast<double>(s->impostor()));
  return curve_statistic("auc", std::move(s), step, measure_auc);
}

Statistic eer_statistic(std::shared_ptr<const ScoreSet> s) {
  const double step = 1 / static_cast<double>(std::min(s->genuine(), s->impostor()));
  return curve_statistic("eer", std::move(s), step, measure_eer);
}

Statistic tar_at_far_statistic(std::shared_ptr<const ScoreSet> s, double far,
                               std::string_view convention) {
  tar_at_far(*s, far, convention);  // throws for wrong use, once instead of in each replicate
  const TarAtFarConvention& rule = tar_at_far_conventions().at(convention);
  const double step = 1 / static_cast<double>(s->genuine());
  if (rule.of_folds)
    return {"tar_at_far",
            [s, far, &rule](std::span<const Weight> w) {
              return rule.of_folds(*s->listed(), s->listed()->sorted_weights(w), far).value;
            },
            step};
  return curve_statistic(
      "tar_at_far", std::move(s), step,
      [far, &rule](const RocCurve& curve) { return rule.of_curve(curve, far).value; }, far);
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
          [c, &rule](std::span<const Weight> w) {
            return measure_accuracy(*c, rule, c->sorted_weights(w)).value;
          },
          1 / static_cast<double>(c->size())};
}

}  // namespace facebench
