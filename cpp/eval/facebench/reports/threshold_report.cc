#include "facebench/reports/threshold_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "facebench/metrics/fixed_threshold.h"
#include "facebench/reports/internal/counted_list.h"
#include "facebench/reports/internal/interval_json.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// A track of a run: with failures left out, and with failures as the lowest score.
struct BothLists {
  CountedList made, all;
  std::int64_t samples = 0, failed = 0;
};

BothLists both_lists(const RunScores& run, std::size_t track, const fs::path& folder) {
  EvaluationOptions drop = run.options, keep = run.options;
  drop.failed_enrolments = "drop";
  keep.failed_enrolments = "lowest_score";
  BothLists lists;
  lists.made = counted_list(run, track, folder, drop);
  lists.all = counted_list(run, track, folder, keep);
  const std::vector<std::uint8_t> failed = left_out_units(drop, run.trials, run.status);
  const auto has_failed = [&](std::int32_t unit) {
    return !failed.empty() && failed[static_cast<std::size_t>(unit)];
  };
  std::set<std::int32_t> units;
  for (std::size_t i = 0; i < lists.all.units.size(); ++i) {
    const Comparison c = lists.all.units[i];
    units.insert({c.first, c.second});
    // Below every threshold.
    if (has_failed(c.first) || has_failed(c.second))
      lists.all.scores[i] = std::numeric_limits<double>::lowest();
  }
  lists.samples = static_cast<std::int64_t>(units.size());
  lists.failed = std::ranges::count_if(units, has_failed);
  return lists;
}

CountedRate rate_of(const CountedList& list, const TrialSet& trials, double threshold, bool genuine,
                    const BootstrapOptions& how, const Job& job) {
  CountedRate r;
  r.rate = r.interval.low = r.interval.high = std::nan("");
  const auto c = std::make_shared<const Comparisons>(list.scores, list.labels);
  r.comparisons = genuine ? c->genuine() : c->impostor();
  if (r.comparisons == 0) return r;
  const FixedThreshold rates = rates_at(*c, threshold);
  r.errors = genuine ? rates.false_non_matches : rates.false_matches;
  r.rate = genuine ? rates.fnmr : rates.fmr;
  const std::vector<std::int32_t> people[2] = {list.people(trials, 0), list.people(trials, 1)};
  const Statistic statistic = genuine ? fnmr_statistic(c, threshold) : fmr_statistic(c, threshold);
  r.interval = Bootstrap({people[0], people[1], {}}, Resampling::dyadic)
                   .intervals({&statistic, 1}, how, job)
                   .front();
  return r;
}

TestedThreshold test_at(const BothLists& lists, const TrialSet& trials, double threshold,
                        const BootstrapOptions& how, const Job& job) {
  TestedThreshold t;
  t.threshold = threshold;
  if (!lists.made.scores.empty()) {
    t.fmr = rate_of(lists.made, trials, threshold, false, how, job);
    t.fnmr = rate_of(lists.made, trials, threshold, true, how, job);
  } else {
    t.fmr.rate = t.fnmr.rate = std::nan("");
  }
  t.gfar = rate_of(lists.all, trials, threshold, false, how, job);
  t.gfrr = rate_of(lists.all, trials, threshold, true, how, job);
  return t;
}

bool same_comparisons(const RunScores& a, const RunScores& b) {
  return a.spec.id == b.spec.id && a.trials.names == b.trials.names;
}

Json rate_json(const CountedRate& r) {
  return {{"errors", r.errors},
          {"comparisons", r.comparisons},
          {"rate", number_or_null(r.rate)},
          {"interval", interval_json(r.interval)}};
}

Json tested_json(const TestedThreshold& t) {
  return {{"threshold", t.threshold},
          {"fmr", rate_json(t.fmr)},
          {"fnmr", rate_json(t.fnmr)},
          {"gfar", rate_json(t.gfar)},
          {"gfrr", rate_json(t.gfrr)}};
}

}  // namespace

void ThresholdReportOptions::describe(OptionsBuilder<ThresholdReportOptions>& o) {
  o.name("ThresholdReportOptions", "Which threshold is recommended, and where it is tested.");
  o.field("fmr", &ThresholdReportOptions::fmr, "FMR that is wanted", 1e-12, 0.999);
  describe_test(o, "threshold",
                "confidence level, one-sided of the bound and two-sided of the intervals", 0.55);
}

ThresholdReport threshold_report(const fs::path& folder, const fs::path& test,
                                 const ThresholdReportOptions& options, const Job& job) {
  check_options(options);
  check_test_run(test, options.same, "the threshold");
  const RunScores run = read_run_scores(folder);
  const std::size_t track = track_of(run, options.track);
  const BothLists chosen = both_lists(run, track, folder);
  ThresholdReport report;
  report.protocol = run.spec.id;
  report.track = run.trials.tracks[track].name;
  report.same = options.same;
  const BootstrapOptions how{options.replicates, options.level, options.seed};

  const auto c = std::make_shared<const Comparisons>(chosen.made.scores, chosen.made.labels);
  const std::vector<std::int32_t> people[2] = {chosen.made.people(run.trials, 0),
                                               chosen.made.people(run.trials, 1)};
  std::set<std::int32_t> distinct(people[0].begin(), people[0].end());
  distinct.insert(people[1].begin(), people[1].end());
  report.people = static_cast<std::int64_t>(distinct.size());
  report.impostor = c->impostor();
  report.recommended = recommend_threshold(c, {people[0], people[1], {}}, options.fmr, how, job);

  const auto put = [&](const BothLists& lists, const TrialSet& trials, const fs::path& where) {
    report.tested_on = where.filename().empty() ? where.parent_path().filename().string()
                                                : where.filename().string();
    report.samples = lists.samples;
    report.failed = lists.failed;
    report.at_threshold = test_at(lists, trials, report.recommended.threshold, how, job);
    if (report.recommended.safe)
      report.at_safe = test_at(lists, trials, *report.recommended.safe, how, job);
  };
  if (options.same) {
    put(chosen, run.trials, folder);
    return report;
  }
  const RunScores other = read_run_scores(test);
  if (same_comparisons(run, other))
    throw std::invalid_argument(
        "both runs hold the same comparisons, so nothing is tested; give a run on other data, or "
        "ask for the same comparisons");
  put(both_lists(other, track_like(other, report.track), test), other.trials, test);
  return report;
}

Json threshold_report_json(const ThresholdReport& report) {
  const RecommendedThreshold& r = report.recommended;
  return {{"protocol", report.protocol},
          {"track", report.track},
          {"fmr", r.fmr},
          {"level", r.level},
          {"threshold", r.threshold},
          {"false_matches", r.false_matches},
          {"expected_false_matches", r.expected_false_matches},
          {"reliable", r.reliable},
          {"safe", r.safe ? Json(*r.safe) : Json()},
          {"safe_false_matches", r.safe_false_matches},
          {"least_bound", r.least_bound},
          {"people", report.people},
          {"impostor", report.impostor},
          {"tested_on", report.tested_on},
          {"same", report.same},
          {"samples", report.samples},
          {"failed", report.failed},
          {"at_threshold", tested_json(report.at_threshold)},
          {"at_safe", report.at_safe ? tested_json(*report.at_safe) : Json()}};
}

}  // namespace facebench
