#include "facebench/metrics/statistic.h"

#include <algorithm>
#include <utility>

#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/tar_at_far.h"
#include "metrics/measures.h"

namespace facebench {

Statistic auc_statistic(std::shared_ptr<const Comparisons> c) {
  const double step = 1 / (static_cast<double>(c->genuine()) * static_cast<double>(c->impostor()));
  return {"auc", [c](std::span<const Weight> w) { return measure_auc(roc(*c, w)); }, step};
}

Statistic eer_statistic(std::shared_ptr<const Comparisons> c) {
  const double step = 1 / static_cast<double>(std::min(c->genuine(), c->impostor()));
  return {"eer", [c](std::span<const Weight> w) { return measure_eer(roc(*c, w)); }, step};
}

Statistic tar_at_far_statistic(std::shared_ptr<const Comparisons> c, double far,
                               std::string_view convention) {
  tar_at_far(*c, far, convention);  // throws for wrong use, once instead of in each replicate
  const TarAtFarConvention& rule = tar_at_far_conventions().at(convention);
  return {"tar_at_far",
          [c, far, &rule](std::span<const Weight> w) {
            return rule.measure(*c, c->sorted_weights(w), far).value;
          },
          1 / static_cast<double>(c->genuine())};
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
