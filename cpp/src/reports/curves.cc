#include "facebench/reports/curves.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/metrics/identification.h"
#include "facebench/metrics/tail_bounds.h"
#include "facebench/protocols/evaluate.h"
#include "facebench/protocols/measurable.h"

namespace facebench {
namespace {

// At most `count` of the points of a rising curve, both ends included, spread evenly over the
// length that is walked along it with x logarithmic. x = 0 lies one decade below `smallest`, the
// smallest positive x that there could be.
std::vector<std::size_t> spread(std::span<const double> x, std::span<const double> y,
                                double smallest, std::size_t count) {
  if (count < 2) throw std::invalid_argument("a curve needs at least two points");
  std::vector<std::size_t> chosen;
  if (x.size() <= count) {
    for (std::size_t i = 0; i < x.size(); ++i) chosen.push_back(i);
    return chosen;
  }
  const double lowest = std::log10(smallest / 10);
  const auto position = [&](std::size_t i) {
    return y[i] - (x[i] == 0 ? lowest : std::log10(x[i])) / lowest;  // both terms rise
  };
  const double first = position(0), last = position(x.size() - 1);
  std::size_t i = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const double wanted =
        first + (last - first) * static_cast<double>(k) / static_cast<double>(count - 1);
    const std::size_t before = i;
    while (i + 1 < x.size() && position(i) < wanted) ++i;
    if (k + 1 == count) i = x.size() - 1;
    if (k == 0 || i != before) chosen.push_back(i);
  }
  return chosen;
}

void add_identification(const Searches& searches, const std::string& ties, std::size_t count,
                        TrackCurves& out) {
  if (searches.mated() == 0) return;
  out.cmc = cmc(searches, ties).rate;
  if (out.cmc.size() > count) out.cmc.resize(count);
  if (searches.non_mated() == 0) return;
  const IdentificationCurve curve = identification_curve(searches);
  const auto fpir = curve.fpir(), dir = curve.dir();
  for (const std::size_t i :
       spread(fpir, dir, 1 / static_cast<double>(searches.non_mated()), count))
    out.dir.push_back({fpir[i], dir[i]});
}

// Neighbouring bins together, about `bins` of them between the lowest and the highest that hold
// any.
ScoreHistogram coarser(const ScoreHistogram& fine, std::size_t bins) {
  std::size_t first = 0, last = fine.impostor.size();
  const auto empty = [&](std::size_t k) { return fine.genuine[k] + fine.impostor[k] == 0; };
  while (first + 1 < last && empty(first)) ++first;
  while (last > first + 1 && empty(last - 1)) --last;
  const std::size_t together = (last - first + bins - 1) / bins;
  ScoreHistogram result;
  for (std::size_t k = first; k < last; ++k) {
    if ((k - first) % together == 0) {
      result.edges.push_back(fine.edges[k]);
      result.genuine.push_back(0);
      result.impostor.push_back(0);
    }
    result.genuine.back() += fine.genuine[k];
    result.impostor.back() += fine.impostor[k];
  }
  result.edges.push_back(fine.edges[last]);
  return result;
}

// The band of a track whose `measurable` can be drawn again; else none.
std::vector<BandPoint> band_of(const Measurable& measurable, const EvaluationOptions& options,
                               std::int64_t draws, const Job& job) {
  const std::shared_ptr<const ScoreSet>& scores = measurable.scores;
  if (!scores || !measurable.bootstrap || scores->genuine() == 0) return {};
  constexpr int kPerDecade = 8;
  std::vector<BandPoint> points;
  std::vector<Statistic> statistics;
  for (int k = 0;; ++k) {
    const double far = std::pow(10, -static_cast<double>(k) / kPerDecade);
    if (far * static_cast<double>(scores->impostor()) < 1 - 1e-9) break;
    if (!scores->reaches(far)) break;
    points.push_back({far, 0, 0});
    statistics.push_back(tar_at_far_statistic(scores, far));
  }
  const std::vector<Interval> found =
      measurable.bootstrap().intervals(statistics, {draws, options.level, options.seed}, job);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].low = found[i].low;
    points[i].high = found[i].high;
    // Who accepts every comparison accepts the genuine ones: no draw of people is in doubt of that.
    if (points[i].far == 1) points[i].low = points[i].high = 1;
  }
  std::erase_if(points, [](const BandPoint& p) { return std::isnan(p.low); });
  std::ranges::reverse(points);
  return points;
}

}  // namespace

std::vector<RocPoint> roc_points(std::span<const double> scores,
                                 std::span<const std::uint8_t> labels, std::size_t count) {
  return roc_points(Comparisons(scores, labels).roc(), count);
}

std::vector<RocPoint> roc_points(const RocCurve& curve, std::size_t count) {
  if (curve.genuine == 0 || curve.impostor == 0)
    throw std::invalid_argument("a curve needs genuine and impostor comparisons");
  const auto far = curve.fpr(), tar = curve.tpr();
  std::vector<RocPoint> points;
  for (const std::size_t i : spread(far, tar, 1 / static_cast<double>(curve.impostor), count))
    points.push_back({far[i], tar[i]});
  return points;
}

std::vector<BandPoint> roc_band(const ScoredTrials& trials, std::size_t track, std::int64_t draws,
                                const Job& job) {
  const IntervalMethod& intervals = interval_methods().at(*trials.options.interval);
  ScoredTrack scored = scored_track(trials, track);
  scored.intervals = intervals.any() ? &intervals : nullptr;
  return band_of(trials.trials.tracks[track].trials->measurable(scored, job), trials.options, draws,
                 job);
}

std::vector<TrackCurves> track_curves(const RunScores& s, std::size_t count, int bins,
                                      std::int64_t band_draws, const Job& job) {
  std::vector<TrackCurves> curves;
  for (std::size_t t = 0; t < s.trials.tracks.size(); ++t) {
    const Track& track = s.trials.tracks[t];
    TrackCurves& c = curves.emplace_back();
    c.track = track.name;
    ScoredTrack scored = scored_track(s, t);
    if (band_draws > 0)
      if (const auto& how = interval_methods().at(*s.options.interval); how.any())
        scored.intervals = &how;
    const Measurable m = track.trials->measurable(scored, job);
    if (m.searches)
      add_identification(*m.searches, s.options.rank_ties.value_or("pessimistic"), count, c);
    if (band_draws > 0) c.band = band_of(m, s.options, band_draws, job);
    // A matrix mixes groups that are not meant to be one population: it has no curve.
    if (m.tail) {
      c.scores = coarser(m.tail->histogram, static_cast<std::size_t>(bins));
      c.roc = roc_points(roc(*m.tail), count);
      continue;
    }
    if (m.scores) c.roc = roc_points(m.scores->roc(), count);
    if (m.scores || m.matrix)
      c.scores = histogram(
          [&](const ScoreVisitor& visit) { visit_scores(*track.trials, scored, visit); }, bins);
  }
  return curves;
}

}  // namespace facebench
