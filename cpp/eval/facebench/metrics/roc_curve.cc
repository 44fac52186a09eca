#include "facebench/metrics/roc_curve.h"

#include "facebench/metrics/internal/rates.h"

namespace facebench {

bool RocCurve::complete() const {
  return !threshold.empty() && true_accepts.back() == genuine && false_accepts.back() == impostor;
}

std::vector<double> RocCurve::tpr() const { return rates(true_accepts, genuine); }
std::vector<double> RocCurve::fpr() const { return rates(false_accepts, impostor); }
std::vector<double> RocCurve::fnr() const {
  std::vector<std::int64_t> rejects(true_accepts.size());
  for (std::size_t i = 0; i < rejects.size(); ++i) rejects[i] = genuine - true_accepts[i];
  return rates(rejects, genuine);
}

}  // namespace facebench
