#include "facebench/reports/run_pairing.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <stdexcept>

#include "facebench/metrics/comparisons.h"

namespace facebench {
namespace {

// What the visitor of a kind needs of both runs.
struct Both {
  const RunScores &a, &b;
  const TrackPairs& pairs;
  std::vector<SampleStatus> status_a, status_b;  // of the units

  const Track& track_a() const { return a.trials.tracks[pairs.a]; }
  const Track& track_b() const { return b.trials.tracks[pairs.b]; }
  // Whether either run leaves the comparison out.
  bool left_out(const ScorePair& k) const {
    return left_out(a, track_a(), status_a, k.a) || left_out(b, track_b(), status_b, k.b);
  }

 private:
  static bool left_out(const RunScores& run, const Track& track,
                       std::span<const SampleStatus> status, std::int64_t k) {
    const auto sides = kind_of(track).sides(track, k);
    if (!sides) return true;
    return failure_policies().at(run.options.failed_enrolments).drop &&
           (status[static_cast<std::size_t>(sides->first)] != SampleStatus::ok ||
            status[static_cast<std::size_t>(sides->second)] != SampleStatus::ok);
  }
};

// The same statistics of two runs, and who is drawn again.
struct Paired {
  std::vector<NumberKey> keys;
  std::vector<Statistic> a, b;
  std::vector<std::int32_t> first, second, folds;
  bool components = false;  // drawn again within folds; else identities
  std::int64_t identities = 0;
  bool of_identities = false;  // the statistics' weights are of identities, not of comparisons
};

// All numbers that `measure`, a member of Metric, makes of a kind's data.
template <class Data>
void add_statistics(const std::shared_ptr<const Data>& a, const std::shared_ptr<const Data>& b,
                    Measure<Data> Metric::*measure, const ProtocolSpec& metrics,
                    const Convention& convention, Paired& out) {
  const std::vector<double> once = {0.0};
  for (const MetricRequest& request : metrics.metrics) {
    const Metric& metric = protocol_metrics().at(request.name);
    const Measure<Data>& how = metric.*measure;
    if (!how.cell) continue;
    for (const double target : metric.takes_targets ? request.targets : once) {
      try {
        const MetricCell cell = how.cell(*a, target, convention);
        auto left = how.statistics(a, target, convention);
        auto right = how.statistics(b, target, convention);
        for (std::size_t i = 0; i < left.size(); ++i) {
          NumberKey key{cell.name, "", ""};
          if (cell.matrix) {
            key.row = cell.matrix->rows[i / cell.matrix->columns.size()];
            key.column = cell.matrix->columns[i % cell.matrix->columns.size()];
          }
          out.keys.push_back(std::move(key));
          out.a.push_back(std::move(left[i]));
          out.b.push_back(std::move(right[i]));
        }
      } catch (const std::invalid_argument&) {
        continue;  // a rule that cannot take these scores
      }
    }
  }
}

// Lists and dense tracks: comparisons of two units.
Paired pair_comparisons(const Both& both, Measure<Comparisons> Metric::*measure,
                        const ProtocolSpec& metrics, const Convention& convention) {
  const Track& track = both.track_a();
  const auto* listed = std::get_if<ListedTrials>(&track.trials);
  Paired out;
  std::vector<double> a, b;
  std::vector<std::uint8_t> labels;
  const auto add = [&](const ScorePair& k) {
    if (both.left_out(k)) return;
    const auto sides = kind_of(track).sides(track, k.a);
    a.push_back(score_at(both.a.scores[both.pairs.a], k.a));
    b.push_back(score_at(both.b.scores[both.pairs.b], k.b));
    labels.push_back(kind_of(track).genuine(track, both.a.trials, k.a) ? 1 : 0);
    if (listed && !listed->fold.empty())
      out.folds.push_back(listed->fold[static_cast<std::size_t>(k.a)]);
    out.first.push_back(both.a.trials.unit_identity(sides->first));
    out.second.push_back(both.a.trials.unit_identity(sides->second));
  };
  out.identities = static_cast<std::int64_t>(both.a.trials.identity_names.size());
  if (both.pairs.same)
    for (std::int64_t k = 0; k < score_count(both.a.scores[both.pairs.a]); ++k) add({k, k});
  else
    for (const ScorePair& k : both.pairs.shared) add(k);
  if (labels.empty()) return out;
  add_statistics(std::make_shared<const Comparisons>(a, labels, out.folds),
                 std::make_shared<const Comparisons>(b, labels, out.folds), measure, metrics,
                 convention, out);
  if (listed) {
    const Components c = connected_components({out.first, out.second, out.folds});
    const std::int32_t folds = *std::ranges::max_element(c.fold) + 1;
    if (c.count() > folds) out.components = true;
  }
  return out;
}

Paired pair_matrices(const Both& both, const MatrixTrials& trials, const ProtocolSpec& metrics,
                     const Convention& convention) {
  Paired out;
  if (!both.pairs.same) return out;
  const auto& a = std::get<std::vector<double>>(both.a.scores[both.pairs.a]);
  const auto& b = std::get<std::vector<double>>(both.b.scores[both.pairs.b]);
  std::vector<std::uint8_t> left_out;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(a.size()); ++k)
    left_out.push_back(both.left_out({k, k}) ? 1 : 0);
  out.identities = trials.subjects();
  out.of_identities = true;
  add_statistics(std::make_shared<const SimilarityMatrix>(trials.groups, a, left_out),
                 std::make_shared<const SimilarityMatrix>(trials.groups, b, left_out),
                 &Metric::matrix, metrics, convention, out);
  return out;
}

Paired pair_track(const Both& both, const ProtocolSpec& metrics, const Convention& convention) {
  const auto& trials = both.track_a().trials;
  // Dense comparisons have the metrics of lists; theirs alone belong to another bootstrap.
  if (std::holds_alternative<ListedTrials>(trials) ||
      (std::holds_alternative<DenseTrials>(trials) && both.pairs.same))
    return pair_comparisons(both, &Metric::listed, metrics, convention);
  if (const auto* matrix = std::get_if<MatrixTrials>(&trials))
    return pair_matrices(both, *matrix, metrics, convention);
  return {};
}

// b's numbers taken off a's, as a statistic of the same weights.
std::vector<Statistic> differences_of(const Paired& p) {
  std::vector<Statistic> result;
  for (std::size_t i = 0; i < p.a.size(); ++i) {
    Statistic s = p.a[i];
    s.rate = false;
    s.evaluate = [a = p.a[i].evaluate, b = p.b[i].evaluate](std::span<const Weight> w) {
      return a(w) - b(w);
    };
    result.push_back(std::move(s));
  }
  return result;
}

// Statistics of comparisons as statistics of the identities that they are of.
std::vector<Statistic> of_identities(std::vector<Statistic> statistics, const Paired& p) {
  for (Statistic& s : statistics)
    s.evaluate = [&p, of_comparisons = s.evaluate](std::span<const Weight> drawn) {
      std::vector<Weight> weights(p.first.size());
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto one = static_cast<std::size_t>(p.first[i]);
        const auto other = static_cast<std::size_t>(p.second[i]);
        weights[i] = one == other ? drawn[one] : drawn[one] * drawn[other];
      }
      return of_comparisons(weights);
    };
  return statistics;
}

// value -+ half the width of `interval`.
PairedDifference paired_difference(double value, Interval interval) {
  const double half = (interval.high - interval.low) / 2;
  const double sd = half / normal_quantile((1 + interval.level) / 2);
  PairedDifference d{value, interval, 1};
  d.interval.low = value - half;
  d.interval.high = value + half;
  d.interval.method += "_paired";
  if (!(half >= 0))
    d.p_value = half;  // undefined
  else if (sd > 0)
    d.p_value = std::erfc(std::abs(value) / sd / std::numbers::sqrt2);
  else
    d.p_value = value == 0 ? 1 : 0;
  return d;
}

std::vector<Interval> intervals_of(const Paired& p, const std::vector<Statistic>& differences,
                                   const BootstrapOptions& options, const Job& job) {
  if (p.components)
    return component_bootstrap({p.first, p.second, p.folds}, differences, options, job);
  if (p.of_identities) return identity_bootstrap(p.identities, differences, options, job);
  return identity_bootstrap(p.identities, of_identities(differences, p), options, job);
}

}  // namespace

std::map<NumberKey, PairedDifference> paired_differences(
    const RunScores& a, const RunScores& b, const TrackPairs& pairs, const ProtocolSpec& metrics,
    const EvaluationOptions& how, const BootstrapOptions& options, const Job& job) {
  std::map<NumberKey, PairedDifference> result;
  const Both both{a, b, pairs, unit_status(a.trials, a.status), unit_status(b.trials, b.status)};
  if (both.track_a().trials.index() != both.track_b().trials.index()) return result;
  try {
    const Paired p = pair_track(both, metrics, conventions().at(how.convention));
    if (p.keys.empty()) return result;
    const std::vector<Statistic> differences = differences_of(p);
    const auto intervals = intervals_of(p, differences, options, job);
    const std::size_t weights =
        p.of_identities ? static_cast<std::size_t>(p.identities) : p.first.size();
    const std::vector<Weight> once(weights, 1);
    for (std::size_t i = 0; i < differences.size(); ++i)
      result[p.keys[i]] = paired_difference(differences[i].evaluate(once), intervals[i]);
  } catch (const std::invalid_argument&) {
    // Nothing can be drawn again (a single person, say), or a class is empty.
    result.clear();
  }
  return result;
}

}  // namespace facebench
