#include "facebench/protocols/measures.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/identification.h"
#include "facebench/metrics/roc.h"
#include "facebench/metrics/tail_bounds.h"
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

MetricCell tar_cell(const TarAtFar& t, double far) {
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

MetricCell measure_tar_cell(const Comparisons& c, double far, const Convention& convention) {
  return tar_cell(tar_at_far(c, far, convention.tar_at_far), far);
}

bool is_exact(const Convention& convention) { return convention.tar_at_far == "exact"; }

TarAtFar dense_tar(const DenseComparisons& c, double far, const Convention& convention) {
  return is_exact(convention) ? c.tar_at_far(far)
                              : tar_at_far(c.listed(), far, convention.tar_at_far);
}

MetricCell measure_threshold_cell(const DenseComparisons& c, double far,
                                  const Convention& convention) {
  const TarAtFar t = dense_tar(c, far, convention);
  MetricCell cell = tar_cell(t, far);
  cell.name = fmt::format("threshold@far={}", far);
  cell.value = t.threshold;
  cell.details["tar"] = t.value;
  cell.details["people"] = c.identities();
  return cell;
}

// Of a tail only the exact rule is known.
void require_exact(const Convention& convention) {
  if (!is_exact(convention))
    throw std::invalid_argument(fmt::format(
        "the convention '{}' needs every score, and of so many comparisons only the highest are "
        "kept; 'exact' can be measured",
        convention.name));
}

// A number between two bounds: half way, with both.
MetricCell bounded_cell(const char* name, const MetricBounds& bounds) {
  MetricCell cell;
  cell.name = name;
  cell.value = (bounds.low + bounds.high) / 2;
  cell.details = {{"bounds", {bounds.low, bounds.high}}, {"from", "histogram"}};
  return cell;
}

// Whether the kept scores reach down to a FAR.
bool reaches(const TailComparisons& c, double far) {
  return c.highest->complete() ||
         allowed_false_accepts(far, c.highest->impostor()) < c.highest->known_impostors();
}

MetricCell measure_tail_tar_cell(const TailComparisons& c, double far,
                                 const Convention& convention) {
  require_exact(convention);
  if (reaches(c, far)) return tar_cell(c.highest->tar_at_far(far), far);
  // The highest TAR that is sure to keep to the FAR.
  const TarBounds bounds = tar_bounds(c.tail, far);
  TarAtFar t;
  t.convention = "exact";
  t.value = bounds.tar.low;
  t.far_target = far;
  t.far_achieved = bounds.far_achieved;
  t.false_accepts = bounds.false_accepts;
  t.genuine_accepted = bounds.genuine_accepted;
  t.expected_false_accepts = far * static_cast<double>(c.tail.impostor_count);
  t.threshold = bounds.threshold;
  t.reliable = true;
  MetricCell cell = tar_cell(t, far);
  cell.details["bounds"] = {bounds.tar.low, bounds.tar.high};
  cell.details["from"] = "histogram";
  return cell;
}

MetricCell measure_tail_threshold_cell(const TailComparisons& c, double far,
                                       const Convention& convention) {
  require_exact(convention);
  if (reaches(c, far)) return measure_threshold_cell(*c.highest, far, convention);
  MetricCell cell = measure_tail_tar_cell(c, far, convention);
  cell.name = fmt::format("threshold@far={}", far);
  cell.details["tar"] = cell.value;
  cell.value = tar_bounds(c.tail, far).threshold;
  cell.details["people"] = c.highest->identities();
  cell.details.erase("bounds");
  return cell;
}

MetricCell measure_dir_cell(const Searches& s, double fpir, const Convention&) {
  const DirAtFpir d = dir_at_fpir(s, fpir);
  MetricCell cell;
  cell.name = fmt::format("dir@fpir={}", fpir);
  cell.value = d.value;
  cell.details = {{"convention", d.convention},
                  {"rank", d.rank},
                  {"fpir_target", d.fpir_target},
                  {"fpir_achieved", number_or_null(d.fpir_achieved)},
                  {"false_positives", d.false_positives},
                  {"expected_false_positives", d.expected_false_positives},
                  {"threshold", number_or_null(d.threshold)},
                  {"reliable", d.reliable},
                  {"identified", d.identified},
                  {"mated", d.mated},
                  {"non_mated", d.non_mated}};
  return cell;
}

MetricCell measure_rank_cell(const Searches& s, double rank, const Convention&) {
  MetricCell cell;
  cell.name = fmt::format("rank@{}", rank);
  cell.value = rank_rate(s, static_cast<std::int64_t>(rank));
  cell.details = {{"rank", static_cast<std::int64_t>(rank)},
                  {"mated", s.mated()},
                  {"gallery_people", s.gallery()}};
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
  // Every row with every column is a search of the rows in the columns, too.
  if (dense.cell || identification.cell) result.emplace_back("dense");
  if (matrix.cell) result.emplace_back("matrix");
  if (identification.cell) result.emplace_back("identification");
  if (all_pairs.cell) result.emplace_back("all_pairs");
  return result;
}

const Table<Metric>& protocol_metrics() {
  using Data = std::shared_ptr<const Comparisons>;
  using Statistics = std::vector<Statistic>;
  using Dense = std::shared_ptr<const DenseComparisons>;
  using DenseStatistics = std::vector<DenseStatistic>;
  using Probes = std::shared_ptr<const Searches>;
  using Tail = std::shared_ptr<const TailComparisons>;
  const auto no_statistics = [](Tail, double, const Convention&) { return DenseStatistics{}; };
  const auto plain = [](const char* name, double value) {
    MetricCell cell;
    cell.name = name;
    cell.value = value;
    return cell;
  };
  static const Table<Metric> table(
      "metric", {{.name = "accuracy",
                  .title = "accuracy",
                  .doc = "mean over folds, thresholds from the other folds",
                  .needs_folds = true,
                  .listed = {measure_accuracy_cell,
                             [](Data d, double, const Convention& c) {
                               return Statistics{accuracy_statistic(d, c.accuracy)};
                             }}},
                 {.name = "auc",
                  .title = "AUC",
                  .doc = "area under the ROC curve",
                  .listed = {[=](const Comparisons& c, double, const Convention&) {
                               return plain("auc", auc(c));
                             },
                             [](Data d, double, const Convention&) {
                               return Statistics{auc_statistic(d)};
                             }},
                  .dense = {[=](const DenseComparisons& c, double, const Convention&) {
                              return plain("auc", auc(c));
                            },
                            [](Dense d, double, const Convention&) {
                              return DenseStatistics{dense_auc_statistic(*d)};
                            }},
                  .all_pairs = {[](const TailComparisons& c, double, const Convention&) {
                                  return bounded_cell("auc", auc_bounds(c.tail));
                                },
                                no_statistics}},
                 {.name = "eer",
                  .title = "EER",
                  .doc = "equal error rate",
                  .lower_is_better = true,
                  .listed = {[=](const Comparisons& c, double, const Convention&) {
                               return plain("eer", eer(c));
                             },
                             [](Data d, double, const Convention&) {
                               return Statistics{eer_statistic(d)};
                             }},
                  .dense = {[=](const DenseComparisons& c, double, const Convention&) {
                              return plain("eer", eer(c));
                            },
                            [](Dense d, double, const Convention&) {
                              return DenseStatistics{dense_eer_statistic(*d)};
                            }},
                  .all_pairs = {[](const TailComparisons& c, double, const Convention&) {
                                  return bounded_cell("eer", eer_bounds(c.tail));
                                },
                                no_statistics}},
                 {.name = "tar_at_far",
                  .title = "TAR at FAR",
                  .doc = "true accept rate at given false accept rates",
                  .prefix = "tar@far=",
                  .takes_targets = true,
                  .listed = {measure_tar_cell,
                             [](Data d, double far, const Convention& c) {
                               return Statistics{tar_at_far_statistic(d, far, c.tar_at_far)};
                             }},
                  .dense = {[](const DenseComparisons& d, double far, const Convention& c) {
                              return tar_cell(dense_tar(d, far, c), far);
                            },
                            // Replicates hold what the exact rule needs: others have no interval.
                            [](Dense d, double far, const Convention& c) {
                              return is_exact(c)
                                         ? DenseStatistics{dense_tar_at_far_statistic(*d, far)}
                                         : DenseStatistics{};
                            }},
                  .all_pairs = {measure_tail_tar_cell,
                                [](Tail d, double far, const Convention&) {
                                  return reaches(*d, far)
                                             ? DenseStatistics{dense_tar_at_far_statistic(
                                                   *d->highest, far)}
                                             : DenseStatistics{};
                                }}},
                 {.name = "threshold_at_far",
                  .title = "threshold at FAR",
                  .doc = "the lowest threshold that keeps to given false accept rates, and the "
                         "number of "
                         "people it rests on",
                  .prefix = "threshold@far=",
                  .rate = false,
                  .takes_targets = true,
                  .dense = {measure_threshold_cell,
                            [](Dense d, double far, const Convention& c) {
                              return is_exact(c)
                                         ? DenseStatistics{dense_threshold_statistic(d, far)}
                                         : DenseStatistics{};
                            }},
                  .all_pairs = {measure_tail_threshold_cell,
                                [](Tail d, double far, const Convention&) {
                                  return reaches(*d, far)
                                             ? DenseStatistics{dense_threshold_statistic(d->highest,
                                                                                         far)}
                                             : DenseStatistics{};
                                }}},
                 {.name = "rank",
                  .title = "rank",
                  .doc = "share of mated probes whose mate is among the first so many people (CMC)",
                  .prefix = "rank@",
                  .takes_targets = true,
                  .targets_are_ranks = true,
                  .identification = {measure_rank_cell,
                                     [](Probes s, double rank, const Convention&) {
                                       return Statistics{
                                           rank_rate_statistic(s, static_cast<std::int64_t>(rank))};
                                     }}},
                 {.name = "dir_at_fpir",
                  .title = "DIR at FPIR",
                  .doc = "share of mated probes identified at rank 1 at given false positive "
                         "identification rates",
                  .prefix = "dir@fpir=",
                  .takes_targets = true,
                  .identification = {measure_dir_cell,
                                     [](Probes s, double fpir, const Convention&) {
                                       return Statistics{dir_at_fpir_statistic(s, fpir)};
                                     }}},
                 {.name = "mean_similarity",
                  .title = "mean similarity",
                  .doc = "mean similarity of groups of the same subjects, a matrix",
                  .rate = false,
                  .matrix = matrix_measure("mean_similarity", &SimilarityMatrix::mean_similarity)},
                 {.name = "impostor_similarity",
                  .title = "mean similarity of different people",
                  .doc = "the same matrix over different subjects",
                  .rate = false,
                  .matrix = matrix_measure("impostor_similarity",
                                           &SimilarityMatrix::impostor_similarity)},
                 {.name = "dprime",
                  .title = "d'",
                  .doc = "d' of the two, a matrix",
                  .rate = false,
                  .matrix = matrix_measure("dprime", &SimilarityMatrix::dprime)}});
  return table;
}

NamedMetric metric_of_cell(std::string_view cell) {
  for (const Metric& m : protocol_metrics().entries()) {
    if (m.takes_targets ? cell.starts_with(m.prefix) : cell == m.name)
      return {&m, std::string(cell.substr(m.prefix.empty() ? cell.size() : m.prefix.size()))};
  }
  return {};
}

}  // namespace facebench
