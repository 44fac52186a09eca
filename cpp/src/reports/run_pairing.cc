#include "facebench/reports/run_pairing.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/dense_bootstrap.h"
#include "facebench/protocols/searched_units.h"

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
    return !sides || (drops_failed(run.options) && status_of(*sides, status) != SampleStatus::ok);
  }
};

using Differences = std::map<NumberKey, PairedComparison>;

// The same statistics of two runs.
template <class Stat>
struct Paired {
  std::vector<NumberKey> keys;
  std::vector<Stat> a, b;

  Differences with(std::span<const PairedComparison> compared) const {
    Differences result;
    for (std::size_t i = 0; i < compared.size(); ++i) result[keys[i]] = compared[i];
    return result;
  }
};

double value_of(const MetricCell& cell, std::size_t i) {
  return cell.matrix ? cell.matrix->values[i] : cell.value;
}

// All numbers that `measure`, a member of Metric, makes of a kind's data.
template <class Data, class Stat>
Paired<Stat> paired_statistics(const std::shared_ptr<const Data>& a,
                               const std::shared_ptr<const Data>& b,
                               Measure<Data, Stat> Metric::*measure, const ProtocolSpec& metrics,
                               const Convention& convention) {
  Paired<Stat> out;
  const std::vector<double> once = {0.0};
  for (const MetricRequest& request : metrics.metrics) {
    const Metric& metric = protocol_metrics().at(request.name);
    const Measure<Data, Stat>& how = metric.*measure;
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
  return out;
}

// How differences are measured.
struct How {
  const ProtocolSpec& metrics;
  const Convention& convention;
  const BootstrapOptions& options;
  const Job& job;
};

Differences pair_lists(const Both& both, const ListedTrials& listed, const How& how) {
  const Track& track = both.track_a();
  std::vector<double> a, b;
  std::vector<std::uint8_t> labels;
  std::vector<std::int32_t> first, second, folds;
  const auto add = [&](const ScorePair& k) {
    if (both.left_out(k)) return;
    const auto sides = kind_of(track).sides(track, k.a);
    a.push_back(score_at(both.a.scores[both.pairs.a], k.a));
    b.push_back(score_at(both.b.scores[both.pairs.b], k.b));
    labels.push_back(kind_of(track).genuine(track, both.a.trials, k.a) ? 1 : 0);
    if (!listed.fold.empty()) folds.push_back(listed.fold[static_cast<std::size_t>(k.a)]);
    first.push_back(both.a.trials.unit_identity(sides->first));
    second.push_back(both.a.trials.unit_identity(sides->second));
  };
  if (both.pairs.same)
    for (std::int64_t k = 0; k < score_count(both.a.scores[both.pairs.a]); ++k) add({k, k});
  else
    for (const ScorePair& k : both.pairs.shared) add(k);
  if (labels.empty()) return {};
  const auto p = paired_statistics(std::make_shared<const Comparisons>(a, labels, folds),
                                   std::make_shared<const Comparisons>(b, labels, folds),
                                   &Metric::listed, how.metrics, how.convention);
  const ComparisonGraph graph{first, second, folds};
  const Components c = connected_components(graph);
  const auto resampling = c.count() > *std::ranges::max_element(c.fold) + 1 ? Resampling::components
                                                                            : Resampling::vertices;
  return p.with(compare_paired(graph, resampling, p.a, p.b, how.options, how.job));
}

TrackSide side_of_a(const Both& both, const std::vector<std::int32_t>& units) {
  return track_side(both.a.trials, units, both.status_a, drops_failed(both.a.options));
}
TrackSide side_of_b(const Both& both, const std::vector<std::int32_t>& units) {
  return track_side(both.b.trials, units, both.status_b, drops_failed(both.b.options));
}

// One side of a track that the runs share, without what either leaves out; the units have numbers
// in each.
TrackSide shared_side(const Both& both, const std::vector<std::int32_t>& units_a,
                      const std::vector<std::int32_t>& units_b) {
  TrackSide side = side_of_a(both, units_a);
  const TrackSide other = side_of_b(both, units_b);
  for (std::size_t i = 0; i < side.left_out.size(); ++i) side.left_out[i] |= other.left_out[i];
  return side;
}

Differences pair_dense(const Both& both, const DenseTrials& a, const DenseTrials& b,
                       const How& how) {
  const TrackSide rows = shared_side(both, a.rows, b.rows);
  const TrackSide columns = shared_side(both, a.columns, b.columns);
  const auto comparisons = [&](const TrackScores& scores) {
    return std::make_shared<const DenseComparisons>(
        DenseScores{std::get<std::vector<float>>(scores), rows.identity, columns.identity,
                    a.triangle, a.mask, rows.left_out, columns.left_out},
        how.job);
  };
  const auto left = comparisons(both.a.scores[both.pairs.a]);
  const auto right = comparisons(both.b.scores[both.pairs.b]);
  const auto p = paired_statistics(left, right, &Metric::dense, how.metrics, how.convention);
  return p.with(compare_paired(*left, *right, p.a, p.b, how.options, how.job));
}

Differences pair_searches(const Both& both, const IdentificationTrials& a,
                          const IdentificationTrials& b, const How& how) {
  const TrackSide probes = shared_side(both, a.probes, b.probes);
  const TrackSide gallery = shared_side(both, a.gallery, b.gallery);
  const auto same = [&](const std::vector<std::int32_t>& of_a,
                        const std::vector<std::int32_t>& of_b) {
    return side_of_a(both, of_a).left_out == side_of_b(both, of_b).left_out;
  };
  // Outcomes cannot be taken apart again: both runs have to leave out the same.
  if (!keeps_scores(both.a.scores[both.pairs.a]) &&
      !(same(a.probes, b.probes) && same(a.gallery, b.gallery)))
    return {};
  const Searched left = searched(both.a.scores[both.pairs.a], probes, gallery, how.job);
  const Searched right = searched(both.b.scores[both.pairs.b], probes, gallery, how.job);
  if (!left.searches || !right.searches) return {};
  const auto p = paired_statistics(left.searches, right.searches, &Metric::identification,
                                   how.metrics, how.convention);
  return p.with(compare_paired({left.probe_identity, left.probe_identity, {}}, Resampling::vertices,
                               p.a, p.b, how.options, how.job));
}

Differences pair_matrices(const Both& both, const MatrixTrials& trials, const How& how) {
  const auto& a = std::get<std::vector<double>>(both.a.scores[both.pairs.a]);
  const auto& b = std::get<std::vector<double>>(both.b.scores[both.pairs.b]);
  std::vector<std::uint8_t> left_out;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(a.size()); ++k)
    left_out.push_back(both.left_out({k, k}) ? 1 : 0);
  // Statistics whose weights are of subjects: as if each were compared with itself alone.
  std::vector<std::int32_t> subjects;
  for (std::int32_t s = 0; s < trials.subjects(); ++s) subjects.push_back(s);
  const auto p =
      paired_statistics(std::make_shared<const SimilarityMatrix>(trials.groups, a, left_out),
                        std::make_shared<const SimilarityMatrix>(trials.groups, b, left_out),
                        &Metric::matrix, how.metrics, how.convention);
  return p.with(compare_paired({subjects, subjects, {}}, Resampling::vertices, p.a, p.b,
                               how.options, how.job));
}

Differences pair_track(const Both& both, const How& how) {
  const auto &a = both.track_a().trials, &b = both.track_b().trials;
  if (const auto* listed = std::get_if<ListedTrials>(&a)) return pair_lists(both, *listed, how);
  if (!both.pairs.same) return {};
  if (const auto* dense = std::get_if<DenseTrials>(&a))
    return pair_dense(both, *dense, std::get<DenseTrials>(b), how);
  if (const auto* searches = std::get_if<IdentificationTrials>(&a))
    return pair_searches(both, *searches, std::get<IdentificationTrials>(b), how);
  if (const auto* matrix = std::get_if<MatrixTrials>(&a)) return pair_matrices(both, *matrix, how);
  return {};  // of all_pairs tracks the scores are not kept one by one
}

}  // namespace

std::map<NumberKey, PairedComparison> compare_track(
    const RunScores& a, const RunScores& b, const TrackPairs& pairs, const ProtocolSpec& metrics,
    const EvaluationOptions& how, const BootstrapOptions& options, const Job& job) {
  std::map<NumberKey, PairedComparison> result;
  const Both both{a, b, pairs, unit_status(a.trials, a.status), unit_status(b.trials, b.status)};
  if (both.track_a().trials.index() != both.track_b().trials.index()) return result;
  try {
    result = pair_track(both, {metrics, conventions().at(*how.convention), options, job});
  } catch (const std::invalid_argument&) {
    // Nothing can be drawn again (a single person, say), or a class is empty.
  }
  return result;
}

}  // namespace facebench
