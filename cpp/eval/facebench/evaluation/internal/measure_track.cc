#include "facebench/evaluation/internal/measure_track.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/evaluation/asked_metrics.h"
#include "facebench/evaluation/convention_choice.h"
#include "facebench/evaluation/metric.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/summary.h"

namespace facebench {
namespace {

// A metric that needs folds is for lists, and for lists that have them.
bool has_folds(const ScoredTrack& scored, const Metric& metric, const Measurable& measurable) {
  if (!measurable.list) return false;
  if (measurable.list->fold_count() < 2)
    fail(scored.where, fmt::format("the list has no folds, which {} needs", metric.name),
         "Take the metric out of the protocol, or use a list with folds.");
  return true;
}

// The points whose interval is defined, ascending.
std::vector<BandPoint> band_of(const Replicates& replicates, std::span<const Statistic> statistics,
                               std::span<const double> fars, double level) {
  std::vector<BandPoint> band;
  for (std::size_t k = 0; k < fars.size(); ++k) {
    const std::size_t s = statistics.size() - fars.size() + k;
    const Interval i = interval_of(replicates, s, statistics[s], level);
    // Who accepts every comparison accepts the genuine ones: no draw of people is in doubt of that.
    if (fars[k] == 1)
      band.push_back({1, 1, 1});
    else if (!std::isnan(i.low))
      band.push_back({fars[k], i.low, i.high});
  }
  std::ranges::reverse(band);
  return band;
}

void add_numbers(const ProtocolSpec& spec, const EvaluationOptions& options,
                 const ScoredTrack& scored, const Measurable& measurable, MetricData data,
                 bool with_band, const Job& job, MeasuredNumbers& all) {
  if (!measurable.has(data)) return;
  const auto& bootstrap = measurable.bootstrap_of(data);
  const bool says_why = scored.intervals && !scored.intervals->earlier;
  std::vector<Number>& numbers = all.numbers;
  const Convention convention = chosen_convention(options);
  std::vector<Statistic> statistics;
  std::vector<std::size_t> of_number;  // the numbers that the statistics belong to
  try {
    for (const auto& [metric, target] : asked_metrics(spec)) {
      if (metric.data != data) continue;
      if (metric.needs_folds && !has_folds(scored, metric, measurable)) continue;
      Measured measured = metric.measure(measurable, target, convention);
      Number& number = numbers.emplace_back(std::move(measured.number));
      if (!says_why) number.no_interval.clear();
      if (!bootstrap) {
        if (says_why) number.no_interval = kNobodyElse;
        continue;
      }
      for (Statistic& s : measured.statistics) {
        statistics.push_back(std::move(s));
        of_number.push_back(numbers.size() - 1);
      }
    }
  } catch (const std::invalid_argument& e) {
    // The metrics do not know protocols: what they refuse is here an error of the data.
    fail(scored.where, e.what(), fmt::format("The convention is '{}'.", convention.name));
  }
  std::vector<double> fars;  // of the band, whose statistics come last
  if (with_band && data == MetricData::scores && bootstrap) fars = band_fars(*measurable.scores);
  for (const double far : fars) statistics.push_back(tar_at_far_statistic(measurable.scores, far));
  if (statistics.empty()) return;
  const Replicates drawn = bootstrap().replicates_with_freedom(
      statistics, {options.replicates, options.level, options.seed}, job);
  if (!fars.empty()) all.band = band_of(drawn, statistics, fars, options.level);
  for (std::size_t i = 0; i < of_number.size(); ++i) {
    Number& number = numbers[of_number[i]];
    const Interval interval = interval_of(drawn, i, statistics[i], options.level);
    if (number.matrix) {
      number.matrix->intervals.push_back(interval);
      continue;
    }
    number.interval = interval;
    if (says_why && std::isnan(interval.low) && !std::isnan(number.value))
      number.no_interval = "too few people: most replicates are undefined";
    NumberDraws& draws = all.draws.emplace_back();
    draws.number = number.name;
    draws.statistic.resolution = statistics[i].resolution;
    draws.statistic.rate = statistics[i].rate;
    draws.statistic.graded = statistics[i].graded;
    draws.replicates = drawn.only(i);
  }
}

// The draws of a mean: one draw of people over all tracks. None where the tracks' draws are not
// that.
std::optional<NumberDraws> mean_draws(const std::string& number,
                                      std::span<const std::vector<NumberDraws>> tracks) {
  std::optional<NumberDraws> mean;
  const double share = 1 / static_cast<double>(tracks.size());
  for (const std::vector<NumberDraws>& track : tracks) {
    const auto of_number = std::ranges::find(track, number, &NumberDraws::number);
    if (of_number == track.end() || !of_number->replicates.opposed) return std::nullopt;
    if (!mean) {
      mean = *of_number;
      mean->statistic.resolution *= share;
      mean->replicates.points[0] *= share;
      for (double& v : mean->replicates.values[0]) v *= share;
      continue;
    }
    Replicates& sum = mean->replicates;
    const Replicates& added = of_number->replicates;
    sum.units = std::max(sum.units, added.units);
    sum.trials[0] = std::max(sum.trials[0], added.trials[0]);
    sum.points[0] += share * added.points[0];
    for (std::size_t r = 0; r < added.values[0].size(); ++r)
      sum.values[0][r] += share * added.values[0][r];
    sum.freedom[0] = std::min(sum.freedom[0], added.freedom[0]);
  }
  return mean;
}

}  // namespace

// Who is compared, and who of them could not be enrolled.
void count_units(const TrialSet& trials, std::span<const SampleStatus> sample_status,
                 std::span<const SampleStatus> unit_status, const Track& track, TrackResult& r) {
  const std::vector<std::int32_t> units = track.trials->units();
  std::vector<bool> seen(trials.names.size()), person(trials.identity_names.size());
  const Templates& t = trials.templates;
  if (t.size() > 0) r.templates = static_cast<std::int64_t>(units.size());
  for (const std::int32_t u : units) {
    const auto unit = static_cast<std::size_t>(u);
    const bool failed = unit_status[unit] != SampleStatus::ok;
    if (failed) r.failed.push_back({trials.unit_name(u), unit_status[unit]});
    person[static_cast<std::size_t>(trials.unit_identity(u))] = true;
    if (t.size() == 0) {
      seen[unit] = true;
      continue;
    }
    for (auto i = static_cast<std::size_t>(t.begin[unit]);
         i < static_cast<std::size_t>(t.begin[unit + 1]); ++i) {
      const auto s = static_cast<std::size_t>(t.sample[i]);
      if (!seen[s] && !failed && sample_status[s] != SampleStatus::ok)
        r.left_out.push_back({trials.names[s], sample_status[s]});
      seen[s] = true;
    }
  }
  r.samples = std::count(seen.begin(), seen.end(), true);
  r.identities = std::count(person.begin(), person.end(), true);
}

void count_comparisons(const Trials& trials, const TrialSet& set,
                       std::span<const std::uint8_t> failed_units, bool drop, TrackResult& r) {
  const TrialSize all = trials.size(set);
  const TrialSize good = failed_units.empty() ? all : trials.size(set, failed_units);
  r.failed_comparisons = all.comparisons - good.comparisons;
  r.dropped = drop ? r.failed_comparisons : 0;
  r.comparisons = (drop ? good : all).comparisons;
  r.genuine = (drop ? good : all).genuine;
  r.impostor = r.comparisons - r.genuine;
}

MeasuredNumbers measure_numbers(const ProtocolSpec& spec, const EvaluationOptions& options,
                                const ScoredTrack& scored, const Measurable& measurable,
                                bool with_band, const Job& job) {
  MeasuredNumbers measured;
  bool any = false;
  for (const MetricData data : kAllData) {
    any = any || measurable.has(data);
    add_numbers(spec, options, scored, measurable, data, with_band, job, measured);
  }
  if (!any)
    fail(scored.where,
         "no search is left: all probes, or all of the gallery, could not be enrolled");
  return measured;
}

TrackResult mean_over_tracks(std::span<const TrackResult> tracks,
                             std::span<const std::vector<NumberDraws>> draws,
                             const EvaluationOptions& options, bool less_sd) {
  TrackResult mean;
  mean.name = "mean";
  mean.kind = "summary";
  for (const TrackResult& t : tracks) {
    mean.comparisons += t.comparisons;
    mean.genuine += t.genuine;
    mean.impostor += t.impostor;
    mean.dropped += t.dropped;
    mean.failed_comparisons += t.failed_comparisons;
  }
  const IntervalMethod& method = interval_methods().at(*options.interval);
  for (const Number& first : tracks.front().numbers) {
    std::vector<double> values;
    for (const TrackResult& t : tracks)
      for (const Number& n : t.numbers)
        if (n.name == first.name && !n.matrix && std::isfinite(n.value)) values.push_back(n.value);
    if (values.size() != tracks.size()) continue;
    const Moments m = moments(values);
    Number& number = mean.numbers.emplace_back();
    number.name = first.name;
    number.value = m.mean;
    TrackMean counts{m.count, m.sd, m.sd / std::sqrt(static_cast<double>(m.count)), {}};
    if (less_sd) counts.mean_less_sd = m.mean - m.sd;
    number.counts = counts;
    if (const auto d = mean_draws(number.name, draws))
      number.interval = interval_of(d->replicates, 0, d->statistic, options.level);
    else if (method.any() && !method.earlier)
      number.no_interval = "not every track has an interval";
  }
  return mean;
}

void keep_to_cosines(std::span<TrackResult> tracks) {
  const auto keep = [](Interval& interval, double value) {
    interval.low = std::max(interval.low, std::min(value, -1.0));  // NaN stays
    interval.high = std::min(interval.high, std::max(value, 1.0));
  };
  for (TrackResult& track : tracks)
    for (Number& number : track.numbers) {
      const Metric* metric = metric_of_number(number.name).metric;
      if (metric == nullptr || !metric->of_scores) continue;
      if (number.interval) keep(*number.interval, number.value);
      if (!number.matrix) continue;
      for (std::size_t i = 0; i < number.matrix->intervals.size(); ++i)
        keep(number.matrix->intervals[i], number.matrix->values[i]);
    }
}

}  // namespace facebench
