#include "facebench/metrics/tar_at_far.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "metrics/measures.h"
#include "metrics/tar_at_far_rules.h"

namespace facebench {
namespace {

TarAtFar undefined_cell(double far) {
  TarAtFar cell;
  cell.far_target = far;
  cell.value = cell.far_achieved = cell.threshold = nan;
  return cell;
}

void finish(TarAtFar& cell) {
  cell.expected_false_accepts = cell.far_target * static_cast<double>(cell.impostor);
  cell.reliable = enough_expected(cell.expected_false_accepts);
}

TarAtFar measure_exact(const Comparisons& comparisons, std::span<const Weight> weights,
                       double far) {
  const RocCurve curve = measure_roc(comparisons, weights);
  if (curve.genuine == 0 || curve.impostor == 0) return undefined_cell(far);
  // k / n rounds to the double nearest to the fraction, as the literal 0.001 does: a FAR of exactly
  // the target is not lost to rounding, which far * n could do.
  std::size_t i = 0;
  while (i + 1 < curve.size() && ratio(curve.false_accepts[i + 1], curve.impostor) <= far) ++i;
  return exact_cell(far, curve.genuine, curve.impostor, curve.true_accepts[i],
                    curve.false_accepts[i], threshold_of_point(curve.threshold, i));
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
    if (std::isnan(threshold) || counts[0] == 0 || counts[1] == 0) return undefined_cell(far);
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

void check_far(double far) {
  if (!(far >= 0 && far <= 1))
    throw std::invalid_argument(fmt::format("the target FAR is {}; it must lie in [0, 1]", far));
}

TarAtFar exact_cell(double far, std::int64_t genuine, std::int64_t impostor,
                    std::int64_t genuine_accepted, std::int64_t false_accepts, double threshold) {
  TarAtFar cell;
  cell.far_target = far;
  cell.genuine = genuine;
  cell.impostor = impostor;
  cell.genuine_accepted = genuine_accepted;
  cell.false_accepts = false_accepts;
  cell.value = ratio(genuine_accepted, genuine);
  cell.far_achieved = ratio(false_accepts, impostor);
  cell.threshold = threshold;
  cell.convention = "exact";
  finish(cell);
  return cell;
}

const Table<TarAtFarConvention>& tar_at_far_conventions() {
  static const Table<TarAtFarConvention> table(
      "TAR@FAR convention",
      {
          {"exact",
           "lowest threshold whose FAR does not exceed the target, ties grouped, accept >=",
           "this project", false, false, measure_exact},
          {"facenet",
           "per fold, threshold from the other folds: FAR on the grid 0, 0.001, ... 4 of squared "
           "distances, linearly interpolated to the target, accept <; mean over folds of TAR and "
           "FAR. Interpolates between the last grid point with FAR <= target and the first above "
           "(the script's interpolation fails on equal FARs in current SciPy). A training FAR that "
           "never reaches the target gives threshold 0, so TAR 0, as in the script",
           "davidsandberg/facenet src/facenet.py calculate_val", true, true, measure_facenet},
          {"insightface", "the facenet rule; the projects differ in how images become embeddings",
           "deepinsight/insightface recognition/arcface_torch/eval/verification.py calculate_val",
           true, true, measure_facenet},
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
           "biometrics/openbr openbr/core/eval.cpp getTAR", false, false, openbr_tar_at_far},
          {"fare", "linear between the exact ROC points, the highest where several have that FAR",
           "uh-cbl/FaRE fare/metrics/metric_funcs.py cal_interpolation", false, false,
           fare_tar_at_far},
          {"insightface_gui",
           "at most floor(FAR * impostors) false accepts, ties grouped, accept >=; undefined where "
           "that is 0",
           "deepinsight/insightface gui/core/evaluation.py", false, false,
           insightface_gui_tar_at_far},
      });
  return table;
}

TarAtFar tar_at_far(const Comparisons& comparisons, double far, std::string_view convention,
                    std::span<const Weight> weights) {
  check_far(far);
  const TarAtFarConvention& entry = tar_at_far_conventions().at(convention);
  if (entry.needs_folds && comparisons.fold_count() < 2)
    throw std::invalid_argument(fmt::format(
        "TAR@FAR convention '{}' chooses thresholds on other folds: give at least two folds",
        entry.name));
  if (entry.cosine_only) check_cosines(comparisons, "TAR@FAR", entry.name);
  TarAtFar cell = entry.measure(comparisons, comparisons.sorted_weights(weights), far);
  if (std::isnan(cell.value)) {
    if (comparisons.genuine() > 0 && comparisons.impostor() > 0 && !entry.needs_folds)
      throw std::invalid_argument(
          fmt::format("the TAR at FAR {} is undefined under '{}' with {} impostor comparisons", far,
                      entry.name, comparisons.impostor()));
    throw std::invalid_argument(
        fmt::format("the TAR at a FAR is undefined: no genuine or no impostor comparisons{}",
                    entry.needs_folds ? " in one of the folds" : ""));
  }
  cell.far_target = far;
  finish(cell);
  cell.convention = entry.name;
  return cell;
}

TarAtFar tar_at_far(std::span<const double> scores, std::span<const std::uint8_t> labels,
                    double far) {
  return tar_at_far(Comparisons(scores, labels), far);
}

}  // namespace facebench
