#include "facebench/backends/score_calibrator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/backends/logistic_fusion.h"
#include "facebench/metrics/calibration.h"
#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/summary.h"

namespace facebench {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// The fusion of one score.
ScoreCalibrator fit_logistic(const Comparisons& c) {
  double highest_genuine = -INFINITY, lowest_impostor = INFINITY;
  for (std::size_t i = 0; i < c.size(); ++i)
    if (c.labels()[i])
      highest_genuine = std::max(highest_genuine, c.scores()[i]);
    else
      lowest_impostor = c.scores()[i];  // they descend
  // Scores that say the opposite are not evidence rather than evidence upside down.
  const ScoreCalibrator none{"logistic", {moments(c.scores()).mean}, {0}, 0};
  if (highest_genuine <= lowest_impostor) return none;
  const MatrixView<double> scores(c.scores().data(), static_cast<Eigen::Index>(c.size()), 1);
  const LogisticFusion line = fit_logistic_fusion(scores, c.labels());
  if (line.weight[0] < 0) return none;
  return {"logistic", {line.mean[0]}, {line.offset}, line.weight[0] / line.sd[0]};
}

ScoreCalibrator fit_pav(const Comparisons& c) {
  const RocCurve roc = c.roc({});
  const std::vector<std::size_t> hull = roc_convex_hull(roc);
  const auto genuine = static_cast<double>(c.genuine());
  const auto impostor = static_cast<double>(c.impostor());
  // Its blocks from the highest scores down; point i of the curve accepts down to thresholds[i].
  ScoreCalibrator result;
  result.method = "pav";
  for (std::size_t k = 1; k < hull.size(); ++k) {
    const std::size_t from = hull[k - 1], to = hull[k];
    const auto g = static_cast<double>(roc.true_accepts[to] - roc.true_accepts[from]);
    const auto i = static_cast<double>(roc.false_accepts[to] - roc.false_accepts[from]);
    const double llr = std::clamp(std::log(g / genuine) - std::log(i / impostor),
                                  -std::log1p(genuine), std::log1p(impostor));
    const double highest = roc.threshold[from + 1], lowest = roc.threshold[to];
    for (const double score : {highest, lowest}) {
      if (!result.score.empty() && result.score.back() == score) continue;
      result.score.push_back(score);
      result.llr.push_back(llr);
    }
  }
  std::ranges::reverse(result.score);
  std::ranges::reverse(result.llr);
  return result;
}

// NaN where a class is empty.
double calibration_error(const Comparisons& c, double prior, int bins,
                         std::span<const Weight> sorted) {
  std::int64_t count[2] = {0, 0};
  for (std::size_t i = 0; i < c.size(); ++i) count[c.labels()[i]] += sorted[i];
  if (count[0] == 0 || count[1] == 0) return nan;
  const double share[2] = {(1 - prior) / static_cast<double>(count[0]),
                           prior / static_cast<double>(count[1])};
  const double logit = std::log(prior / (1 - prior));
  std::vector<double> excess(static_cast<std::size_t>(bins), 0);
  for (std::size_t i = 0; i < c.size(); ++i) {
    const double p = logistic(c.scores()[i] + logit);
    const auto bin = std::min(static_cast<std::size_t>(p * bins), excess.size() - 1);
    excess[bin] += share[c.labels()[i]] * sorted[i] * (p - c.labels()[i]);
  }
  double sum = 0;
  for (const double e : excess) sum += std::abs(e);
  return sum;
}

void check_bins(double prior, int bins) {
  if (!(prior > 0 && prior < 1))
    throw std::invalid_argument(fmt::format("the prior is {}; it must lie in (0, 1)", prior));
  if (bins < 1) throw std::invalid_argument(fmt::format("{} bins", bins));
}

}  // namespace

double ScoreCalibrator::apply(double x) const {
  if (x <= score.front()) return llr.front() + slope * (x - score.front());
  if (x >= score.back()) return llr.back() + slope * (x - score.back());
  const auto above = std::ranges::upper_bound(score, x) - score.begin();
  const auto k = static_cast<std::size_t>(above);
  const double part = (x - score[k - 1]) / (score[k] - score[k - 1]);
  return llr[k - 1] + part * (llr[k] - llr[k - 1]);
}

const Table<CalibrationMethod>& calibration_methods() {
  static const Table<CalibrationMethod> table(
      "calibration method",
      {{"logistic", "a line: logistic regression with equal weight of both classes",
        "Brummer & du Preez, Computer Speech & Language 2006", fit_logistic},
       {"pav", "rising steps: pool adjacent violators, linear between its blocks",
        "Zadrozny & Elkan, KDD 2002", fit_pav}});
  return table;
}

ScoreCalibrator fit_calibrator(const Comparisons& c, std::string_view method) {
  const CalibrationMethod& known = calibration_methods().at(method);
  require_both(c.genuine(), c.impostor(), "a calibration");
  return known.fit(c);
}

Statistic cllr_statistic(std::shared_ptr<const Comparisons> c) {
  Statistic statistic{"cllr", [c](std::span<const Weight> w) {
                        std::int64_t count[2] = {0, 0};
                        const std::vector<Weight> sorted = c->sorted_weights(w);
                        for (std::size_t i = 0; i < c->size(); ++i)
                          count[c->labels()[i]] += sorted[i];
                        return count[0] && count[1] ? cllr(*c, w) : nan;
                      }};
  statistic.rate = false;
  return statistic;
}

Statistic calibration_error_statistic(std::shared_ptr<const Comparisons> c, double prior,
                                      int bins) {
  check_bins(prior, bins);
  return {"calibration_error", [c, prior, bins](std::span<const Weight> w) {
            return calibration_error(*c, prior, bins, c->sorted_weights(w));
          }};
}

}  // namespace facebench
