#include "facebench/metrics/tar_at_far.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/internal/cosine_keys.h"
#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/internal/tar_at_far_rules.h"

namespace facebench {
namespace {

void finish(TarAtFar& cell) {
  cell.expected_false_accepts = cell.far_target * static_cast<double>(cell.impostor);
  cell.reliable = enough_expected(cell.expected_false_accepts);
}

// facenet's calculate_val. Distances ascend along the sorted comparisons.
double facenet_threshold(const Comparisons& comparisons, std::span<const Weight> weights,
                         std::span<const double> distances, int fold, double far) {
  static const std::vector<double> grid = arange(0, 4, 0.001);
  const auto folds = comparisons.folds();
  const auto labels = comparisons.labels();
  std::int64_t impostor = 0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (folds[i] != fold && !labels[i]) impostor += weights[i];
  if (impostor == 0) return nan;

  std::size_t i = 0;
  std::int64_t accepted = 0;
  double below = 0;  // FAR at the grid point before
  for (std::size_t g = 0; g < grid.size(); ++g) {
    for (; i < distances.size() && distances[i] < grid[g]; ++i)
      if (folds[i] != fold && !labels[i]) accepted += weights[i];
    const double here = ratio(accepted, impostor);
    // Between the last grid point with FAR <= target and the first above it. (At grid[0] = 0
    // nothing is accepted, so g >= 1 here.)
    if (here > far) return grid[g - 1] + (far - below) / (here - below) * (grid[g] - grid[g - 1]);
    below = here;
  }
  return below == far ? grid.back() : 0.0;
}

TarAtFar measure_facenet(const Comparisons& comparisons, std::span<const Weight> weights,
                         double far) {
  const auto labels = comparisons.labels();
  std::vector<double> distances(comparisons.size());
  for (std::size_t i = 0; i < distances.size(); ++i)
    distances[i] = -negative_squared_distance(comparisons.scores()[i]);

  TarAtFar cell;
  cell.far_target = far;
  double tar_sum = 0, far_sum = 0, threshold_sum = 0;
  for (int fold = 0; fold < comparisons.fold_count(); ++fold) {
    const double threshold = facenet_threshold(comparisons, weights, distances, fold, far);
    std::int64_t counts[2] = {0, 0}, accepted[2] = {0, 0};
    for (const std::uint32_t i : comparisons.fold_members(fold)) {
      counts[labels[i]] += weights[i];
      if (distances[i] < threshold) accepted[labels[i]] += weights[i];
    }
    if (std::isnan(threshold) || counts[0] == 0 || counts[1] == 0) return undefined_tar(far);
    tar_sum += ratio(accepted[1], counts[1]);
    far_sum += ratio(accepted[0], counts[0]);
    threshold_sum += 1 - threshold / 2;
    cell.genuine += counts[1];
    cell.impostor += counts[0];
    cell.genuine_accepted += accepted[1];
    cell.false_accepts += accepted[0];
  }
  cell.value = tar_sum / comparisons.fold_count();
  cell.far_achieved = far_sum / comparisons.fold_count();
  cell.threshold = threshold_sum / comparisons.fold_count();
  finish(cell);
  return cell;
}

}  // namespace

TarAtFar undefined_tar(double far) {
  TarAtFar cell;
  cell.far_target = far;
  cell.value = cell.far_achieved = cell.threshold = nan;
  return cell;
}

TarAtFar tar_of_point(const RocCurve& curve, std::size_t i, double threshold) {
  TarAtFar cell;
  cell.genuine = curve.genuine;
  cell.impostor = curve.impostor;
  cell.genuine_accepted = curve.true_accepts[i];
  cell.false_accepts = curve.false_accepts[i];
  cell.value = ratio(cell.genuine_accepted, cell.genuine);
  cell.far_achieved = ratio(cell.false_accepts, cell.impostor);
  cell.threshold = threshold;
  return cell;
}

double threshold_of_point(std::span<const double> thresholds, std::size_t i) {
  if (i + 1 == thresholds.size()) return thresholds[i];
  const double rejected = thresholds[i + 1];
  return std::isinf(thresholds[i]) ? threshold_above(rejected)
                                   : threshold_between(rejected, thresholds[i]);
}

std::size_t last_within_far(const RocCurve& curve, double far) {
  const auto past = std::ranges::partition_point(curve.false_accepts, [&](std::int64_t accepts) {
    return within_far(accepts, curve.impostor, far);
  });
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(past - curve.false_accepts.begin(), 1)) -
         1;
}

TarAtFar exact_tar_at_far(const RocCurve& curve, double far) {
  if (curve.genuine == 0 || curve.impostor == 0) return undefined_tar(far);
  const std::size_t i = last_within_far(curve, far);
  if (i + 1 == curve.size() && !curve.complete()) return undefined_tar(far);
  TarAtFar cell = tar_of_point(curve, i, threshold_of_point(curve.threshold, i));
  cell.far_target = far;
  cell.convention = "exact";
  finish(cell);
  return cell;
}

RocCurve points_around(std::int64_t genuine, std::int64_t impostor, std::int64_t genuine_accepted,
                       std::int64_t false_accepts, double accepted,
                       std::optional<double> rejected) {
  RocCurve curve;
  curve.genuine = genuine;
  curve.impostor = impostor;
  const auto put = [&](double threshold, std::int64_t true_accepts, std::int64_t accepts) {
    curve.threshold.push_back(threshold);
    curve.true_accepts.push_back(true_accepts);
    curve.false_accepts.push_back(accepts);
  };
  put(std::numeric_limits<double>::infinity(), 0, 0);
  if (std::isfinite(accepted)) put(accepted, genuine_accepted, false_accepts);
  if (rejected) put(*rejected, genuine, impostor);
  return curve;
}

const Table<TarAtFarConvention>& tar_at_far_conventions() {
  static const Table<TarAtFarConvention> table(
      "TAR@FAR convention",
      {
          {"exact",
           "lowest threshold whose FAR does not exceed the target, ties grouped, accept >=",
           "this project", false, false, exact_tar_at_far},
          {"facenet",
           "per fold, threshold from the other folds: FAR on the grid 0, 0.001, ... 4 of squared "
           "distances, linearly interpolated to the target, accept <; mean over folds of TAR and "
           "FAR. Interpolates between the last grid point with FAR <= target and the first above "
           "(the script's interpolation fails on equal FARs in current SciPy). A training FAR that "
           "never reaches the target gives threshold 0, so TAR 0, as in the script",
           "davidsandberg/facenet src/facenet.py calculate_val", true, true, nullptr,
           measure_facenet},
          {"insightface", "the facenet rule; the projects differ in how images become embeddings",
           "deepinsight/insightface recognition/arcface_torch/eval/verification.py calculate_val",
           true, true, nullptr, measure_facenet},
          {"ijb",
           "the point of scikit-learn's roc_curve (without the points it drops) whose FAR is "
           "nearest "
           "to the target, above it or below; of equally near ones the last. May exceed the target",
           "deepinsight/insightface recognition/arcface_torch/eval_ijbc.py; the same in most IJB "
           "scripts",
           false, false, ijb_tar_at_far},
          {"pfe",
           "the round(impostors * FAR)-th highest impostor score (halves to even), accept >=; for "
           "0 "
           "the highest + 1e-8. Ties may exceed the target",
           "seasonSH/Probabilistic-Face-Embeddings evaluation/metrics.py find_thresholds_by_FAR",
           false, false, pfe_tar_at_far},
          {"cvlface", "the pfe rule with 1e-5 in place of 1e-8",
           "mk-minchul/CVLface tinyface/metrics.py find_thresholds_by_FAR", false, false,
           cvlface_tar_at_far},
          {"ijb_1n",
           "the ceil(impostors * FAR)-th highest impostor score, accept >; undefined for FAR 0",
           "deepinsight/insightface recognition/_evaluation_/ijb/ijb_1n.py evaluation", false,
           false, ijb_1n_tar_at_far},
          {"bob",
           "lowest impostor score at which the FAR does not exceed the target, ties grouped, "
           "accept "
           ">= (so genuine scores between it and the next impostor are rejected); FAR 0: just "
           "above "
           "the highest impostor; FAR 1: just below the lowest",
           "bob.measure far_threshold, farfrr", false, false, bob_tar_at_far},
          {"openbr",
           "points where false and true accepts have both grown, the last left out, in single "
           "precision; linear between them and from the origin; 1 beyond the last",
           "biometrics/openbr openbr/core/eval.cpp getTAR", false, false, openbr_tar_at_far,
           nullptr, true},
          {"fare", "linear between the exact ROC points, the highest where several have that FAR",
           "uh-cbl/FaRE fare/metrics/metric_funcs.py cal_interpolation", false, false,
           fare_tar_at_far, nullptr, true},
          {"insightface_gui",
           "at most floor(FAR * impostors) false accepts, ties grouped, accept >=; undefined where "
           "that is 0",
           "deepinsight/insightface gui/core/evaluation.py", false, false,
           insightface_gui_tar_at_far},
      });
  return table;
}

TarAtFar ScoreSet::tar_over_folds(const TarAtFarConvention& rule, double,
                                  std::span<const Weight>) const {
  throw std::invalid_argument(fmt::format(
      "TAR@FAR convention '{}' chooses thresholds on other folds: give at least two folds",
      rule.name));
}

TarAtFar Comparisons::tar_over_folds(const TarAtFarConvention& rule, double far,
                                     std::span<const Weight> weights) const {
  if (fold_count() < 2) return ScoreSet::tar_over_folds(rule, far, weights);
  if (rule.cosine_only) check_cosines(*this, "TAR@FAR", rule.name);
  return rule.of_folds(*this, sorted_weights(weights), far);
}

TarAtFar tar_at_far(const ScoreSet& scores, double far, std::string_view convention,
                    std::span<const Weight> weights) {
  check_far(far);
  const TarAtFarConvention& rule = tar_at_far_conventions().at(convention);
  const bool exact = rule.of_curve == exact_tar_at_far;
  TarAtFar cell = rule.of_folds ? scores.tar_over_folds(rule, far, weights)
                  : exact       ? exact_tar_at_far(scores.roc_near(far, weights), far)
                                : rule.of_curve(scores.roc_around(far, weights), far);
  if (std::isnan(cell.value)) {
    if (!scores.reaches(far))
      throw std::invalid_argument(
          fmt::format("the scores that were kept do not reach a FAR of {}", far));
    if (scores.genuine() > 0 && scores.impostor() > 0 && !rule.needs_folds)
      throw std::invalid_argument(
          fmt::format("the TAR at FAR {} is undefined under '{}' with {} impostor comparisons", far,
                      rule.name, scores.impostor()));
    throw std::invalid_argument(
        fmt::format("the TAR at a FAR is undefined: no genuine or no impostor comparisons{}",
                    rule.needs_folds ? " in one of the folds" : ""));
  }
  cell.far_target = far;
  finish(cell);
  cell.convention = rule.name;
  return cell;
}

}  // namespace facebench
