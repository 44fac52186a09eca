#include "facebench/reports/run_pairing.h"

#include <algorithm>
#include <cmath>
#include <memory>
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
  Resampling resampling = Resampling::vertices;
};

double value_of(const MetricCell& cell, std::size_t i) {
  return cell.matrix ? cell.matrix->values[i] : cell.value;
}

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
        const MetricCell other = how.cell(*b, target, convention);
        auto left = how.statistics(a, target, convention);
        auto right = how.statistics(b, target, convention);
        for (std::size_t i = 0; i < left.size(); ++i) {
          if (std::isnan(value_of(cell, i)) || std::isnan(value_of(other, i))) continue;
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
    if (c.count() > folds) out.resampling = Resampling::components;
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
  // Statistics whose weights are of subjects: as if each were compared with itself alone.
  for (std::int32_t s = 0; s < trials.subjects(); ++s) out.first.push_back(s);
  out.second = out.first;
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

}  // namespace

std::map<NumberKey, PairedComparison> compare_track(
    const RunScores& a, const RunScores& b, const TrackPairs& pairs, const ProtocolSpec& metrics,
    const EvaluationOptions& how, const BootstrapOptions& options, const Job& job) {
  std::map<NumberKey, PairedComparison> result;
  const Both both{a, b, pairs, unit_status(a.trials, a.status), unit_status(b.trials, b.status)};
  if (both.track_a().trials.index() != both.track_b().trials.index()) return result;
  try {
    const Paired p = pair_track(both, metrics, conventions().at(how.convention));
    if (p.keys.empty()) return result;
    const auto compared =
        compare_paired({p.first, p.second, p.folds}, p.resampling, p.a, p.b, options, job);
    for (std::size_t i = 0; i < compared.size(); ++i) result[p.keys[i]] = compared[i];
  } catch (const std::invalid_argument&) {
    // Nothing can be drawn again (a single person, say), or a class is empty.
    result.clear();
  }
  return result;
}

}  // namespace facebench
