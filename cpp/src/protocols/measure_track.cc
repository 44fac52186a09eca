#include "protocols/measure_track.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/protocols/convention_choice.h"

namespace facebench {
namespace {

// A metric that needs folds is for lists, and for lists that have them.
bool has_folds(const ScoredTrials& scored, const Metric& metric, const ScoreSet& scores) {
  if (!scores.listed()) return false;
  if (scores.listed()->fold_count() < 2)
    fail(scored.where, fmt::format("the list has no folds, which {} needs", metric.name),
         "Take the metric out of the protocol, or use a list with folds.");
  return true;
}

template <class Data>
void add_cells(const ProtocolSpec& spec, const EvaluationOptions& options,
               const ScoredTrials& scored, const Resampled<Data>& resampled, const Job& job,
               std::vector<MetricCell>& cells) {
  if (!resampled.data) return;
  const Data& data = *resampled.data;
  const Convention convention = chosen_convention(options);
  std::vector<Statistic> statistics;
  std::vector<std::size_t> of_cell;  // the cells that the statistics belong to
  try {
    for (const MetricRequest& request : spec.metrics) {
      const Metric& metric = protocol_metrics().at(request.name);
      const auto* rule = std::get_if<Rule<Data>>(&metric.rule);
      if (!rule) continue;
      if constexpr (std::is_same_v<Data, ScoreSet>)
        if (metric.needs_folds && !has_folds(scored, metric, data)) continue;
      const std::vector<double> once = {0.0};
      require_rule(metric, convention);
      for (const double target : metric.takes_targets ? request.targets : once) {
        cells.push_back(rule->cell(data, target, convention));
        if (!resampled.bootstrap) continue;
        for (Statistic& s : rule->statistics(resampled.data, target, convention)) {
          statistics.push_back(std::move(s));
          of_cell.push_back(cells.size() - 1);
        }
      }
    }
  } catch (const std::invalid_argument& e) {
    // The metrics do not know protocols: what they refuse is here an error of the data.
    fail(scored.where, e.what(), fmt::format("The convention is '{}'.", convention.name));
  }
  if (statistics.empty()) return;
  const std::vector<Interval> intervals = resampled.bootstrap().intervals(
      statistics, {options.replicates, options.level, options.seed}, job);
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    MetricCell& cell = cells[of_cell[i]];
    if (cell.matrix)
      cell.matrix->intervals.push_back(intervals[i]);
    else
      cell.interval = intervals[i];
  }
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

std::vector<MetricCell> measure_cells(const ProtocolSpec& spec, const EvaluationOptions& options,
                                      const ScoredTrials& scored, const Measurable& measurable,
                                      const Job& job) {
  if (!measurable.scores.data && !measurable.matrix.data && !measurable.searches.data)
    fail(scored.where,
         "no search is left: all probes, or all of the gallery, could not be enrolled");
  std::vector<MetricCell> cells;
  add_cells(spec, options, scored, measurable.scores, job, cells);
  add_cells(spec, options, scored, measurable.matrix, job, cells);
  add_cells(spec, options, scored, measurable.searches, job, cells);
  return cells;
}

}  // namespace facebench
