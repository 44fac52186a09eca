#include "facebench/evaluation/metric.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "facebench/evaluation/convention_choice.h"
#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/identification.h"
#include "facebench/metrics/roc.h"
#include "facebench/metrics/similarity_matrix.h"
#include "facebench/metrics/tail_bounds.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {
namespace {

void require_centred(const Comparisons& list, const AccuracyConvention& rule) {
  if (list.has_centred()) return;
  const auto able = accuracy_conventions().names_where([](const auto& c) { return !c.centred; });
  throw std::invalid_argument(
      fmt::format("the accuracy convention '{}' subtracts the mean embedding of the training "
                  "folds, so it needs "
                  "embeddings, and there are scores alone; scores are enough for: {}",
                  rule.name, fmt::join(able, ", ")));
}

Measured accuracy_rule(const Metric&, const Measurable& m, double, const Convention& convention) {
  const AccuracyConvention& rule = accuracy_conventions().at(convention.accuracy);
  if (rule.centred) require_centred(*m.list, rule);
  const Accuracy a = accuracy(*m.list, rule);
  Measured measured;
  measured.number.value = a.value;
  measured.number.counts = a;
  if (m.bootstrap) measured.statistics = {accuracy_statistic(m.list, rule.name)};
  return measured;
}

// A number of which only the histogram is known.
Number of_histogram() {
  Number number;
  number.from_histogram = true;
  number.no_interval =
      "only the highest of so many scores are kept with their people, and this number needs the "
      "others too: the bounds say where it lies";
  return number;
}

// A number of the whole curve, for which all scores are needed; of a tail half way between its
// bounds, where they are known. Its smallest step is that of the smaller class, unless `statistic`
// says otherwise.
using CurveNumber = double (*)(const RocCurve&);
using BoundsOfTail = MetricBounds (*)(const ScoreTail&);
using CurveStatistic = Statistic (*)(std::shared_ptr<const ScoreSet>);
Measured curve_number(const Metric& metric, const Measurable& m, CurveNumber value,
                      BoundsOfTail bounds, CurveStatistic statistic) {
  Measured measured;
  Number& number = measured.number;
  if (m.tail && !bounds)
    throw std::invalid_argument(
        fmt::format("{} needs every score, and only the highest of so many are kept", metric.name));
  if (m.tail) {
    number = of_histogram();
    number.bounds = bounds(*m.tail);
    number.value = (number.bounds->low + number.bounds->high) / 2;
    return measured;
  }
  number.value = value(m.scores->roc());
  const auto smaller = static_cast<double>(std::min(m.scores->genuine(), m.scores->impostor()));
  measured.statistics = {statistic ? statistic(m.scores)
                                   : curve_statistic(metric.name, m.scores, value, 1 / smaller)};
  return measured;
}
template <CurveNumber value, BoundsOfTail bounds = nullptr, CurveStatistic statistic = nullptr>
Measured curve_rule(const Metric& metric, const Measurable& m, double, const Convention&) {
  return curve_number(metric, m, value, bounds, statistic);
}

bool is_exact(const Convention& convention) { return convention.tar_at_far == "exact"; }

// Whether the TAR at a FAR and its threshold are known, and not bounds alone. Of a tail only the
// exact rule is known.
bool known_at(const Measurable& m, double far, const Convention& convention) {
  if (m.tail && !is_exact(convention))
    throw std::invalid_argument(fmt::format(
        "the TAR at FAR convention '{}' needs every score, and of so many comparisons only the "
        "highest are kept; 'exact' can be measured, or more scores kept (stored_scores)",
        convention.tar_at_far));
  return m.scores->reaches(far);
}

// The highest TAR that is sure to keep to a FAR below the tail.
TarAtFar bounded_tar(const ScoreTail& tail, double far, const TarBounds& bounds) {
  TarAtFar t;
  t.convention = "exact";
  t.value = bounds.tar.low;
  t.far_target = far;
  t.far_achieved = bounds.far_achieved;
  t.false_accepts = bounds.false_accepts;
  t.genuine_accepted = bounds.genuine_accepted;
  t.expected_false_accepts = far * static_cast<double>(tail.impostor_count);
  t.threshold = bounds.threshold;
  t.reliable = true;
  return t;
}

Measured tar_rule(const Metric&, const Measurable& m, double far, const Convention& convention) {
  Measured measured;
  Number& number = measured.number;
  TarAtFar tar;
  if (known_at(m, far, convention)) {
    tar = tar_at_far(*m.scores, far, convention.tar_at_far);
    if (m.bootstrap)
      measured.statistics = {tar_at_far_statistic(m.scores, far, convention.tar_at_far)};
  } else {
    const TarBounds bounds = tar_bounds(*m.tail, far);
    tar = bounded_tar(*m.tail, far, bounds);
    number = of_histogram();
    number.bounds = bounds.tar;
  }
  number.value = tar.value;
  number.counts = std::move(tar);
  return measured;
}

Measured threshold_rule(const Metric&, const Measurable& m, double far,
                        const Convention& convention) {
  if (tar_at_far_conventions().at(convention.tar_at_far).interpolates) {
    const auto able =
        tar_at_far_conventions().names_where([](const auto& c) { return !c.interpolates; });
    throw std::invalid_argument(
        fmt::format("the TAR at FAR convention '{}' interpolates and has no threshold; these have "
                    "one: {}",
                    convention.tar_at_far, fmt::join(able, ", ")));
  }
  Measured measured;
  Number& number = measured.number;
  ThresholdAtFar threshold;
  threshold.people = m.scores->identities();
  if (known_at(m, far, convention)) {
    threshold.at = tar_at_far(*m.scores, far, convention.tar_at_far);
    if (!is_exact(convention))
      number.no_interval = "thresholds are drawn again by the convention 'exact' alone";
    else if (m.bootstrap)
      measured.statistics = {threshold_statistic(m.scores, far)};
  } else {
    threshold.at = bounded_tar(*m.tail, far, tar_bounds(*m.tail, far));
    number = of_histogram();
  }
  number.value = threshold.at.threshold;
  number.counts = std::move(threshold);
  return measured;
}

// The identification rate within so many ranks.
template <std::int64_t rank>
Measured dir_rule(const Metric&, const Measurable& m, double fpir, const Convention& convention) {
  const DirAtFpir d = dir_at_fpir(*m.searches, fpir, rank, convention.identification);
  Measured measured;
  measured.number.value = d.value;
  measured.number.counts = d;
  if (m.search_bootstrap)
    measured.statistics = {
        dir_at_fpir_statistic(m.searches, fpir, rank, convention.identification)};
  return measured;
}

Measured rank_rule(const Metric&, const Measurable& m, double target,
                   const Convention& convention) {
  const auto rank = static_cast<std::int64_t>(target);
  const Searches& s = *m.searches;
  Measured measured;
  measured.number.value = rank_rate(s, rank, convention.rank_ties);
  measured.number.counts = RankRate{rank, s.mated(), s.gallery(), convention.rank_ties};
  if (m.search_bootstrap)
    measured.statistics = {rank_rate_statistic(m.searches, rank, convention.rank_ties)};
  return measured;
}

template <MatrixNumber number>
Measured matrix_rule(const Metric& metric, const Measurable& m, double, const Convention&) {
  Measured measured;
  measured.number.value = std::numeric_limits<double>::quiet_NaN();
  measured.number.matrix =
      MatrixValue{m.matrix->groups(), m.matrix->groups(), matrix_values(*m.matrix, number), {}};
  measured.statistics = matrix_statistics(m.matrix, number, metric.name);
  return measured;
}

}  // namespace

Measured Metric::measure(const Measurable& of, double target, const Convention& by) const {
  require_rule(*this, by);
  Measured measured = rule(*this, of, target, by);
  measured.number.name = takes_targets ? fmt::format("{}{}", prefix, target) : name;
  return measured;
}

std::vector<double> Metric::targets(std::vector<double> requested) const {
  return takes_targets ? std::move(requested) : std::vector<double>{0.0};
}

std::string Metric::applies_to() const {
  static const char* const names[] = {"scores", "matrix", "searches"};
  return names[static_cast<std::size_t>(data)];
}

const Table<Metric>& protocol_metrics() {
  static const Table<Metric> table(
      "metric",
      {{.name = "accuracy",
        .title = "accuracy",
        .doc = "mean over folds, thresholds from the other folds",
        .needs_folds = true,
        .convention = &Convention::accuracy,
        .needs_centred =
            [](const Convention& c) { return accuracy_conventions().at(c.accuracy).centred; },
        .rule = accuracy_rule},
       {.name = "auc",
        .title = "AUC",
        .doc = "area under the ROC curve",
        .rule = curve_rule<auc, auc_bounds, auc_statistic>},
       {.name = "eer",
        .title = "EER",
        .doc = "equal error rate",
        .lower_is_better = true,
        .rule = curve_rule<eer, eer_bounds>},
       {.name = "tar_at_far",
        .title = "TAR at FAR",
        .doc = "true accept rate at given false accept rates",
        .prefix = "tar@far=",
        .takes_targets = true,
        .convention = &Convention::tar_at_far,
        .rule = tar_rule},
       {.name = "threshold_at_far",
        .title = "threshold at FAR",
        .doc = "the lowest threshold that keeps to given false accept rates, and the number of "
               "people it rests on",
        .prefix = "threshold@far=",
        .of_scores = true,
        .rate = false,
        .takes_targets = true,
        .convention = &Convention::tar_at_far,
        .rule = threshold_rule},
       {.name = "rank",
        .title = "rank",
        .doc = "share of mated probes whose mate is among the first so many people (CMC)",
        .prefix = "rank@",
        .takes_targets = true,
        .targets_are_ranks = true,
        .convention = &Convention::rank_ties,
        .data = MetricData::searches,
        .rule = rank_rule},
       {.name = "dir_at_fpir",
        .title = "DIR at FPIR",
        .doc = "share of mated probes identified at rank 1 at given false positive identification "
               "rates",
        .prefix = "dir@fpir=",
        .takes_targets = true,
        .convention = &Convention::identification,
        .data = MetricData::searches,
        .rule = dir_rule<1>},
       {.name = "tpir20_at_fpir",
        .title = "TPIR20 at FPIR",
        .doc = "share of mated probes whose mate is above the threshold and among the first 20 "
               "people, at given false positive identification rates",
        .prefix = "tpir20@fpir=",
        .takes_targets = true,
        .convention = &Convention::identification,
        .data = MetricData::searches,
        .rule = dir_rule<20>},
       {.name = "mean_similarity",
        .title = "mean similarity",
        .doc = "mean similarity of groups of the same subjects, a matrix",
        .of_scores = true,
        .rate = false,
        .data = MetricData::matrix,
        .rule = matrix_rule<&SimilarityMatrix::mean_similarity>},
       {.name = "impostor_similarity",
        .title = "mean similarity of different people",
        .doc = "the same matrix over different subjects",
        .of_scores = true,
        .rate = false,
        .data = MetricData::matrix,
        .rule = matrix_rule<&SimilarityMatrix::impostor_similarity>},
       {.name = "dprime",
        .title = "d'",
        .doc = "d' of the two, a matrix",
        .rate = false,
        .data = MetricData::matrix,
        .rule = matrix_rule<&SimilarityMatrix::dprime>}});
  return table;
}

NamedMetric metric_of_number(std::string_view cell) {
  NamedMetric named;
  std::string_view name = cell;
  if (const std::size_t open = cell.find('['), comma = cell.find(',', open);
      comma != std::string_view::npos && cell.ends_with(']')) {
    named.row = cell.substr(open + 1, comma - open - 1);
    named.column = cell.substr(comma + 1, cell.size() - comma - 2);
    name = cell.substr(0, open);
  }
  const auto& metrics = protocol_metrics().entries();
  const auto found = std::ranges::find_if(metrics, [&](const Metric& m) {
    if (!named.row.empty() && m.data != MetricData::matrix) return false;
    return m.takes_targets ? name.starts_with(m.prefix) : name == m.name;
  });
  if (found == metrics.end()) return {};
  named.metric = &*found;
  if (found->takes_targets) named.target = name.substr(found->prefix.size());
  return named;
}

}  // namespace facebench
