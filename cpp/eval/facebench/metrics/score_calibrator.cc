#include "facebench/metrics/score_calibrator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/metrics/calibration.h"
#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/summary.h"

namespace facebench {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// Newton's method on the Cllr of scale * score + offset, which is convex. Scores are standardized
// first, so that no unit is badly conditioned.
ScoreCalibrator fit_logistic(const Comparisons& c) {
  double lowest_genuine = INFINITY, highest_impostor = -INFINITY;
  for (std::size_t i = 0; i < c.size(); ++i)
    if (c.labels()[i])
      lowest_genuine = c.scores()[i];  // they descend
    else
      highest_impostor = std::max(highest_impostor, c.scores()[i]);
  if (lowest_genuine > highest_impostor)
    throw std::invalid_argument(
        "a threshold separates both classes, so no line is best; calibrate on more comparisons, or "
        "by pav");
  const Moments m = moments(c.scores());
  if (m.sd == 0) return {"logistic", {m.mean}, {0}, 0};  // equal scores are not evidence
  const double share[2] = {0.5 / static_cast<double>(c.impostor()),
                           0.5 / static_cast<double>(c.genuine())};
  const auto cost = [&](double a, double b) {
    double sum = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double x = a * (c.scores()[i] - m.mean) / m.sd + b;
      const double z = c.labels()[i] ? -x : x;
      sum += share[c.labels()[i]] * (std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))));
    }
    return sum;
  };
  double a = 1, b = 0, before = cost(a, b);
  for (int step = 0; step < 200; ++step) {
    double ga = 0, gb = 0, haa = 0, hab = 0, hbb = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double z = (c.scores()[i] - m.mean) / m.sd;
      const double p = logistic(a * z + b);
      const double w = share[c.labels()[i]];
      const double g = w * (p - c.labels()[i]), h = w * p * (1 - p);
      ga += g * z;
      gb += g;
      haa += h * z * z;
      hab += h * z;
      hbb += h;
    }
    const double determinant = haa * hbb - hab * hab;
    if (!(determinant > 0)) break;
    const double da = (hbb * ga - hab * gb) / determinant;
    const double db = (haa * gb - hab * ga) / determinant;
    double size = 1, after = cost(a - da, b - db);
    while (after > before && size > 1e-9) {
      size /= 2;
      after = cost(a - size * da, b - size * db);
    }
    if (!(after < before)) break;
    a -= size * da;
    b -= size * db;
    before = after;
  }
  // Scores that say the opposite are not evidence rather than evidence upside down.
  if (a < 0) a = b = 0;
  ScoreCalibrator result;
  result.method = "logistic";
  result.slope = a / m.sd;
  result.score = {m.mean};
  result.llr = {b};
  return result;
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
