#include "facebench/backends/logistic_fusion.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/metrics/summary.h"

namespace facebench {

double LogisticFusion::apply(std::span<const double> inputs) const {
  double sum = offset;
  for (std::size_t k = 0; k < weight.size(); ++k)
    if (sd[k] > 0) sum += weight[k] / sd[k] * (inputs[k] - mean[k]);
  return sum;
}

LogisticFusion fit_logistic_fusion(const MatrixRef<double>& inputs,
                                   std::span<const std::uint8_t> genuine, double prior) {
  const Eigen::Index n = inputs.rows(), k = inputs.cols();
  if (!(prior > 0 && prior < 1))
    throw std::invalid_argument(fmt::format("the prior is {}; it must lie in (0, 1)", prior));
  if (static_cast<std::size_t>(n) != genuine.size())
    throw std::invalid_argument(fmt::format("{} labels for {} comparisons", genuine.size(), n));
  const auto count = static_cast<double>(std::ranges::count(genuine, 1));
  if (count == 0 || count == static_cast<double>(n))
    throw std::invalid_argument("a fusion is fitted to genuine and impostor comparisons");
  if (!inputs.allFinite()) throw std::invalid_argument("an input of the fusion is not finite");
  LogisticFusion fusion;
  RowMatrix<double> z(n, k + 1);  // standardized, so that no unit is badly conditioned
  z.col(k).setOnes();
  for (Eigen::Index j = 0; j < k; ++j) {
    const std::vector<double> column(inputs.col(j).begin(), inputs.col(j).end());
    const Moments m = moments(column);
    fusion.mean.push_back(m.mean);
    fusion.sd.push_back(m.sd);
    if (m.sd > 0)
      z.col(j) = (inputs.col(j).array() - m.mean) / m.sd;
    else
      z.col(j).setZero();
  }
  const double share[2] = {(1 - prior) / (static_cast<double>(n) - count), prior / count};
  const double logit = std::log(prior / (1 - prior));
  bool separated = false;
  const auto cost = [&](const Eigen::VectorXd& w) {
    double sum = 0;
    separated = true;
    for (Eigen::Index i = 0; i < n; ++i) {
      double x = 0;
      for (Eigen::Index j = 0; j < k; ++j)
        if (const auto at = static_cast<std::size_t>(j); fusion.sd[at] > 0)
          x += w[j] * (inputs(i, j) - fusion.mean[at]) / fusion.sd[at];
      x += w[k] + logit;
      const auto label = genuine[static_cast<std::size_t>(i)];
      const double against = label ? -x : x;
      separated = separated && against < 0;
      sum += share[label] * (std::max(against, 0.0) + std::log1p(std::exp(-std::abs(against))));
    }
    return sum;
  };
  Eigen::VectorXd w =
      Eigen::VectorXd::Constant(k + 1, 1 / static_cast<double>(std::max<Eigen::Index>(k, 1)));
  w[k] = 0;
  double before = cost(w);
  for (int step = 0; step < 200; ++step) {
    if (separated)
      throw std::invalid_argument(
          "a threshold separates both classes, so no line is best; use more comparisons (of one "
          "system also: calibrate by pav)");
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(k + 1);
    RowMatrix<double> hessian = RowMatrix<double>::Zero(k + 1, k + 1);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto label = genuine[static_cast<std::size_t>(i)];
      const double p = 1 / (1 + std::exp(-(z.row(i).dot(w) + logit)));
      gradient += share[label] * (p - label) * z.row(i).transpose();
      hessian += share[label] * p * (1 - p) * z.row(i).transpose() * z.row(i);
    }
    for (Eigen::Index j = 0; j < k; ++j)
      if (fusion.sd[static_cast<std::size_t>(j)] == 0) hessian(j, j) = 1;
    const Eigen::LDLT<Eigen::MatrixXd> ldlt(hessian);
    if (ldlt.info() != Eigen::Success || !(ldlt.vectorD().minCoeff() > 0)) break;
    const Eigen::VectorXd change = ldlt.solve(gradient);
    double size = 1, after = cost(w - change);
    while (after > before && size > 1e-9) {
      size /= 2;
      after = cost(w - size * change);
    }
    if (!(after < before)) break;
    w -= size * change;
    before = after;
  }
  fusion.weight.assign(w.data(), w.data() + k);
  fusion.offset = w[k];
  return fusion;
}

}  // namespace facebench
