#include "facebench/protocols/measures.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/roc.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {
namespace {

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

MetricCell measure_accuracy_cell(const Comparisons& c, double, const Convention& convention) {
  const Accuracy a = accuracy(c, convention.accuracy);
  MetricCell cell{"accuracy", a.value, {}, Json::object(), {}};
  cell.details["convention"] = a.convention;
  cell.details["sd"] = number_or_null(a.sd);
  cell.details["standard_error"] = number_or_null(a.standard_error);
  cell.details["spread"] = number_or_null(a.spread);
  cell.details["wrong"] = a.wrong;
  cell.details["comparisons"] = a.comparisons;
  Json& folds = cell.details["folds"] = Json::array();
  for (std::size_t i = 0; i < a.fold_accuracy.size(); ++i)
    folds.push_back({{"fold", a.folds[i]},
                     {"accuracy", a.fold_accuracy[i]},
                     {"threshold", number_or_null(a.fold_threshold[i])}});
  return cell;
}

MetricCell measure_tar_cell(const Comparisons& c, double far, const Convention& convention) {
  const TarAtFar t = tar_at_far(c, far, convention.tar_at_far);
  MetricCell cell{fmt::format("tar@far={}", far), t.value, {}, Json::object(), {}};
  cell.details = {{"convention", t.convention},
                  {"far_target", t.far_target},
                  {"far_achieved", number_or_null(t.far_achieved)},
                  {"false_accepts", t.false_accepts},
                  {"expected_false_accepts", t.expected_false_accepts},
                  {"threshold", number_or_null(t.threshold)},
                  {"reliable", t.reliable},
                  {"genuine_accepted", t.genuine_accepted}};
  return cell;
}

// Components where there is more than one in some fold; where people connect everything there is
// nothing to draw again but the people themselves.
std::vector<Interval> components_or_vertex(const ComparisonGraph& graph,
                                           std::span<const Statistic> statistics,
                                           const BootstrapOptions& options, const Job& job) {
  const Components components = connected_components(graph);
  std::int32_t folds = 0;
  for (const std::int32_t f : components.fold) folds = std::max(folds, f + 1);
  if (components.count() > folds) return component_bootstrap(graph, statistics, options, job);
  return vertex_bootstrap(graph, statistics, options, job);
}

Measure<SimilarityMatrix> matrix_measure(const std::string& name, MatrixNumber number) {
  return {[=](const SimilarityMatrix& m, double, const Convention&) {
            MetricCell cell;
            cell.name = name;
            cell.value = std::numeric_limits<double>::quiet_NaN();
            cell.matrix = MatrixValue{m.groups(), m.groups(), matrix_values(m, number), {}};
            return cell;
          },
          [=](std::shared_ptr<const SimilarityMatrix> m, double, const Convention&) {
            return matrix_statistics(std::move(m), number, name);
          }};
}

}  // namespace

const Table<Convention>& conventions() {
  static const Table<Convention> table(
      "convention",
      {{"exact", "thresholds between sorted scores, ties grouped, FAR never above the target",
        "exact", "exact"},
       {"facenet", "facenet's grids on the squared distance, TAR interpolated over nine folds",
        "facenet", "facenet"},
       {"insightface", "the grids of insightface's verification script", "insightface",
        "insightface"},
       // A project that publishes a rule for one metric only has the default for the other.
       {"facexzoo", "FaceX-Zoo: Youden's index on 1000 steps; nearest FAR", "facexzoo", "ijb"},
       {"sphereface", "SphereFace's evaluation.m; it prints no TAR", "sphereface", "exact"},
       {"sphereface_pytorch", "sphereface_pytorch's lfw_eval.py; it prints no TAR",
        "sphereface_pytorch", "exact"},
       {"magface", "MagFace: a grid of angles; nearest FAR", "magface", "ijb"},
       {"ijb", "IJB scripts: the ROC point nearest to the FAR", "exact", "ijb"},
       {"ijb_1n", "insightface's ijb_1n.py: the impostor score at a rank, accept >", "exact",
        "ijb_1n"},
       {"pfe", "PFE: the impostor score at a rounded rank", "exact", "pfe"},
       {"cvlface", "CVLface: insightface's grids; PFE's rule", "insightface", "cvlface"},
       {"bob", "bob.measure: far_threshold", "exact", "bob"},
       {"openbr", "OpenBR: linear between points of its ROC", "exact", "openbr"},
       {"fare", "FaRE: linear between the points of the ROC", "exact", "fare"},
       {"insightface_gui", "insightface's GUI: a budget of false accepts", "exact",
        "insightface_gui"}});
  return table;
}

const Table<FailurePolicy>& failure_policies() {
  static const Table<FailurePolicy> table(
      "treatment of failed enrolments",
      {{"lowest_score", "a comparison with a failed side gets the lowest score, and counts", false},
       {"drop", "a comparison with a failed side is left out; the number left out is given",
        true}});
  return table;
}

const Table<IntervalMethod>& interval_methods() {
  static const Table<IntervalMethod> table(
      "interval method",
      {{"components",
        "bootstrap of the connected components within folds; of people where all are connected",
        components_or_vertex},
       {"vertex", "bootstrap of people, on the logit scale (dense comparisons)",
        [](const ComparisonGraph& g, std::span<const Statistic> s, const BootstrapOptions& o,
           const Job& j) { return vertex_bootstrap(g, s, o, j); }},
       {"none", "no interval", nullptr}});
  return table;
}

std::vector<std::string> Metric::kinds() const {
  std::vector<std::string> result;
  if (listed.cell) result.emplace_back("listed");
  if (dense.cell) result.emplace_back("dense");
  if (matrix.cell) result.emplace_back("matrix");
  return result;
}

const Table<Metric>& protocol_metrics() {
  using Data = std::shared_ptr<const Comparisons>;
  using Statistics = std::vector<Statistic>;
  const Measure<Comparisons> auc_measure{
      [](const Comparisons& c, double, const Convention&) {
        return MetricCell{"auc", auc(c), {}, Json::object(), {}};
      },
      [](Data d, double, const Convention&) { return Statistics{auc_statistic(d)}; }};
  const Measure<Comparisons> eer_measure{
      [](const Comparisons& c, double, const Convention&) {
        return MetricCell{"eer", eer(c), {}, Json::object(), {}};
      },
      [](Data d, double, const Convention&) { return Statistics{eer_statistic(d)}; }};
  const Measure<Comparisons> tar_measure{
      measure_tar_cell, [](Data d, double far, const Convention& c) {
        return Statistics{tar_at_far_statistic(d, far, c.tar_at_far)};
      }};
  static const Table<Metric> table(
      "metric",
      {{.name = "accuracy",
        .doc = "mean over folds, thresholds from the other folds",
        .needs_folds = true,
        .listed = {measure_accuracy_cell,
                   [](Data d, double, const Convention& c) {
                     return Statistics{accuracy_statistic(d, c.accuracy)};
                   }}},
       {.name = "auc",
        .doc = "area under the ROC curve",
        .listed = auc_measure,
        .dense = auc_measure},
       {.name = "eer", .doc = "equal error rate", .listed = eer_measure, .dense = eer_measure},
       {.name = "tar_at_far",
        .doc = "true accept rate at given false accept rates",
        .takes_targets = true,
        .listed = tar_measure,
        .dense = tar_measure},
       {.name = "mean_similarity",
        .doc = "mean similarity of groups of the same subjects, a matrix",
        .matrix = matrix_measure("mean_similarity", &SimilarityMatrix::mean_similarity)},
       {.name = "impostor_similarity",
        .doc = "the same matrix over different subjects",
        .matrix = matrix_measure("impostor_similarity", &SimilarityMatrix::impostor_similarity)},
       {.name = "dprime",
        .doc = "d' of the two, a matrix",
        .matrix = matrix_measure("dprime", &SimilarityMatrix::dprime)}});
  return table;
}

}  // namespace facebench
