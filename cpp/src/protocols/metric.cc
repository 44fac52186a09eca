#include "facebench/protocols/metric.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/centred_accuracy.h"
#include "facebench/metrics/identification.h"
#include "facebench/metrics/roc.h"
#include "facebench/metrics/tail_bounds.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {
namespace {

using Scores = std::shared_ptr<const ScoreSet>;
using Probes = std::shared_ptr<const Searches>;
using Statistics = std::vector<Statistic>;

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

void require_centred(const ScoreSet& s, const AccuracyConvention& rule) {
  if (s.centred()) return;
  std::vector<std::string> able;
  for (const AccuracyConvention& c : accuracy_conventions().entries())
    if (!c.centred) able.push_back(c.name);
  throw std::invalid_argument(
      fmt::format("the accuracy convention '{}' subtracts the mean embedding of the training "
                  "folds, so it needs "
                  "embeddings, and there are scores alone; scores are enough for: {}",
                  rule.name, fmt::join(able, ", ")));
}

Statistics accuracy_statistics(Scores s, double, const Convention& convention) {
  if (accuracy_conventions().at(convention.accuracy).centred)
    return {centred_accuracy_statistic({s, s->centred()}, convention.accuracy)};
  return {accuracy_statistic({s, s->listed()}, convention.accuracy)};
}

MetricCell accuracy_cell(const ScoreSet& s, double, const Convention& convention) {
  const AccuracyConvention& rule = accuracy_conventions().at(convention.accuracy);
  if (rule.centred) require_centred(s, rule);
  const Accuracy a =
      rule.centred ? centred_accuracy(*s.centred(), rule.name) : accuracy(*s.listed(), rule.name);
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

bool is_exact(const Convention& convention) { return convention.tar_at_far == "exact"; }

// Why a number that rests on the histogram has no interval.
constexpr const char* kOfTheTail =
    "only the highest of so many scores are kept with their people, and this number needs the "
    "others too: the bounds say where it lies";

// A number between two bounds: half way, with both.
MetricCell bounded_cell(const char* name, const MetricBounds& bounds) {
  MetricCell cell;
  cell.name = name;
  cell.value = (bounds.low + bounds.high) / 2;
  cell.details = {{"bounds", {bounds.low, bounds.high}}, {"from", "histogram"}};
  cell.no_interval = kOfTheTail;
  return cell;
}

// A number of the whole curve, for which all scores are needed; of a tail its bounds, where they
// are known. Its smallest step is that of the smaller class, unless `statistic` says otherwise.
Rule<ScoreSet> curve_rule(const char* name, double (*value)(const RocCurve&),
                          MetricBounds (*bounds)(const ScoreTail&) = nullptr,
                          Statistic (*statistic)(Scores) = nullptr) {
  return {[=](const ScoreSet& s, double, const Convention&) {
            if (s.tail() && !bounds)
              throw std::invalid_argument(fmt::format(
                  "{} needs every score, and only the highest of so many are kept", name));
            if (s.tail()) return bounded_cell(name, bounds(*s.tail()));
            MetricCell cell;
            cell.name = name;
            cell.value = value(s.roc());
            return cell;
          },
          [=](Scores s, double, const Convention&) {
            if (s->tail()) return Statistics{};
            if (statistic) return Statistics{statistic(s)};
            const auto smaller = static_cast<double>(std::min(s->genuine(), s->impostor()));
            return Statistics{curve_statistic(name, s, value, 1 / smaller)};
          }};
}

// Whether the TAR at a FAR and its threshold are known, and not bounds alone. Of a tail only the
// exact rule is known.
bool known_at(const ScoreSet& s, double far, const Convention& convention) {
  if (s.tail() && !is_exact(convention))
    throw std::invalid_argument(fmt::format(
        "the TAR at FAR convention '{}' needs every score, and of so many comparisons only the "
        "highest are kept; 'exact' can be measured, or more scores kept (stored_scores)",
        convention.tar_at_far));
  return s.reaches(far);
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

MetricCell tar_at_far_cell(const ScoreSet& s, double far, const Convention& convention) {
  if (known_at(s, far, convention)) return tar_cell(tar_at_far(s, far, convention.tar_at_far), far);
  const TarBounds bounds = tar_bounds(*s.tail(), far);
  MetricCell cell = tar_cell(bounded_tar(*s.tail(), far, bounds), far);
  cell.details["bounds"] = {bounds.tar.low, bounds.tar.high};
  cell.details["from"] = "histogram";
  cell.no_interval = kOfTheTail;
  return cell;
}

Statistics tar_at_far_statistics(Scores s, double far, const Convention& convention) {
  if (!s->reaches(far)) return {};
  return {tar_at_far_statistic(s, far, convention.tar_at_far)};
}

MetricCell threshold_cell(const ScoreSet& s, double far, const Convention& convention) {
  if (tar_at_far_conventions().at(convention.tar_at_far).interpolates) {
    std::vector<std::string> able;
    for (const TarAtFarConvention& c : tar_at_far_conventions().entries())
      if (!c.interpolates) able.push_back(c.name);
    throw std::invalid_argument(
        fmt::format("the TAR at FAR convention '{}' interpolates and has no threshold; these have "
                    "one: {}",
                    convention.tar_at_far, fmt::join(able, ", ")));
  }
  const bool known = known_at(s, far, convention);
  const TarAtFar t = known ? tar_at_far(s, far, convention.tar_at_far)
                           : bounded_tar(*s.tail(), far, tar_bounds(*s.tail(), far));
  MetricCell cell = tar_cell(t, far);
  cell.name = fmt::format("threshold@far={}", far);
  cell.value = t.threshold;
  cell.details["tar"] = t.value;
  if (s.identities() > 0) cell.details["people"] = s.identities();
  if (!known) cell.details["from"] = "histogram";
  if (!known) cell.no_interval = kOfTheTail;
  if (!is_exact(convention))
    cell.no_interval = "thresholds are drawn again by the convention 'exact' alone";
  return cell;
}

Statistics threshold_statistics(Scores s, double far, const Convention& convention) {
  if (!is_exact(convention) || !s->reaches(far)) return {};
  return {threshold_statistic(s, far)};
}

MetricCell dir_cell(const Searches& s, double fpir, std::int64_t rank, std::string_view prefix,
                    const Convention& convention) {
  const DirAtFpir d = dir_at_fpir(s, fpir, rank, convention.identification);
  MetricCell cell;
  cell.name = fmt::format("{}{}", prefix, fpir);
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

// The identification rate within so many ranks.
Rule<Searches> dir_rule(std::int64_t rank, std::string_view prefix) {
  return {[=](const Searches& s, double fpir, const Convention& c) {
            return dir_cell(s, fpir, rank, prefix, c);
          },
          [=](Probes s, double fpir, const Convention& c) {
            return Statistics{dir_at_fpir_statistic(s, fpir, rank, c.identification)};
          }};
}

MetricCell rank_cell(const Searches& s, double rank, const Convention& convention) {
  MetricCell cell;
  cell.name = fmt::format("rank@{}", rank);
  cell.value = rank_rate(s, static_cast<std::int64_t>(rank), convention.rank_ties);
  cell.details = {{"rank", static_cast<std::int64_t>(rank)},
                  {"mated", s.mated()},
                  {"gallery_people", s.gallery()}};
  if (convention.rank_ties != "pessimistic") cell.details["ties"] = convention.rank_ties;
  return cell;
}

Rule<SimilarityMatrix> matrix_rule(const std::string& name, MatrixNumber number) {
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

std::string Metric::applies_to() const {
  static const char* const names[] = {"scores", "searches", "matrix"};
  return names[rule.index()];
}

const Table<Metric>& protocol_metrics() {
  static const Table<Metric> table(
      "metric",
      {{.name = "accuracy",
        .title = "accuracy",
        .doc = "mean over folds, thresholds from the other folds",
        .needs_folds = true,
        .convention = &Convention::accuracy,
        .rule = Rule<ScoreSet>{accuracy_cell, accuracy_statistics}},
       {.name = "auc",
        .title = "AUC",
        .doc = "area under the ROC curve",
        .rule = curve_rule("auc", auc, auc_bounds, auc_statistic)},
       {.name = "eer",
        .title = "EER",
        .doc = "equal error rate",
        .lower_is_better = true,
        .rule = curve_rule("eer", eer, eer_bounds)},
       {.name = "tar_at_far",
        .title = "TAR at FAR",
        .doc = "true accept rate at given false accept rates",
        .prefix = "tar@far=",
        .takes_targets = true,
        .convention = &Convention::tar_at_far,
        .rule = Rule<ScoreSet>{tar_at_far_cell, tar_at_far_statistics}},
       {.name = "threshold_at_far",
        .title = "threshold at FAR",
        .doc = "the lowest threshold that keeps to given false accept rates, and the number of "
               "people it rests on",
        .prefix = "threshold@far=",
        .rate = false,
        .takes_targets = true,
        .convention = &Convention::tar_at_far,
        .rule = Rule<ScoreSet>{threshold_cell, threshold_statistics}},
       {.name = "rank",
        .title = "rank",
        .doc = "share of mated probes whose mate is among the first so many people (CMC)",
        .prefix = "rank@",
        .takes_targets = true,
        .targets_are_ranks = true,
        .convention = &Convention::rank_ties,
        .rule = Rule<Searches>{rank_cell,
                               [](Probes s, double rank, const Convention& c) {
                                 return Statistics{rank_rate_statistic(
                                     s, static_cast<std::int64_t>(rank), c.rank_ties)};
                               }}},
       {.name = "dir_at_fpir",
        .title = "DIR at FPIR",
        .doc = "share of mated probes identified at rank 1 at given false positive identification "
               "rates",
        .prefix = "dir@fpir=",
        .takes_targets = true,
        .convention = &Convention::identification,
        .rule = dir_rule(1, "dir@fpir=")},
       {.name = "tpir20_at_fpir",
        .title = "TPIR20 at FPIR",
        .doc = "share of mated probes whose mate is above the threshold and among the first 20 "
               "people, at given false positive identification rates",
        .prefix = "tpir20@fpir=",
        .takes_targets = true,
        .convention = &Convention::identification,
        .rule = dir_rule(20, "tpir20@fpir=")},
       {.name = "mean_similarity",
        .title = "mean similarity",
        .doc = "mean similarity of groups of the same subjects, a matrix",
        .rate = false,
        .rule = matrix_rule("mean_similarity", &SimilarityMatrix::mean_similarity)},
       {.name = "impostor_similarity",
        .title = "mean similarity of different people",
        .doc = "the same matrix over different subjects",
        .rate = false,
        .rule = matrix_rule("impostor_similarity", &SimilarityMatrix::impostor_similarity)},
       {.name = "dprime",
        .title = "d'",
        .doc = "d' of the two, a matrix",
        .rate = false,
        .rule = matrix_rule("dprime", &SimilarityMatrix::dprime)}});
  return table;
}

NamedMetric metric_of_cell(std::string_view cell) {
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
    if (!named.row.empty() && m.applies_to() != "matrix") return false;
    return m.takes_targets ? name.starts_with(m.prefix) : name == m.name;
  });
  if (found == metrics.end()) return {};
  named.metric = &*found;
  if (found->takes_targets) named.target = name.substr(found->prefix.size());
  return named;
}

}  // namespace facebench
