#include "facebench/analysis/threshold_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "facebench/analysis/internal/counted_list.h"
#include "facebench/analysis/internal/interval_json.h"
#include "facebench/core/options.h"
#include "facebench/metrics/fixed_threshold.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// A track of a run: with failures left out, and with failures as the lowest score.
struct BothLists {
  ListedRun made, all;
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
  for (const std::vector<std::int32_t>& side : lists.all.units)
    for (std::size_t i = 0; i < side.size(); ++i) {
      units.insert(side[i]);
      // Below every threshold.
      if (has_failed(side[i])) lists.all.scores[i] = std::numeric_limits<double>::lowest();
    }
  lists.samples = static_cast<std::int64_t>(units.size());
  lists.failed = std::ranges::count_if(units, has_failed);
  return lists;
}

CountedRate rate_of(const ListedRun& list, double threshold, bool genuine,
                    const BootstrapOptions& how, const Job& job) {
  CountedRate r;
  r.rate = r.interval.low = r.interval.high = std::nan("");
  const auto c = std::make_shared<const Comparisons>(list.scores, list.labels);
  r.comparisons = genuine ? c->genuine() : c->impostor();
  if (r.comparisons == 0) return r;
  const FixedThreshold rates = rates_at(*c, threshold);
  r.errors = genuine ? rates.false_non_matches : rates.false_matches;
  r.rate = genuine ? rates.fnmr : rates.fmr;
  const Statistic statistic = genuine ? fnmr_statistic(c, threshold) : fmr_statistic(c, threshold);
  r.interval =
      Bootstrap(list.graph(), Resampling::dyadic).intervals({&statistic, 1}, how, job).front();
  return r;
}

TestedThreshold test_at(const BothLists& lists, double threshold, const BootstrapOptions& how,
                        const Job& job) {
  TestedThreshold t;
  t.threshold = threshold;
  if (!lists.made.scores.empty()) {
    t.fmr = rate_of(lists.made, threshold, false, how, job);
    t.fnmr = rate_of(lists.made, threshold, true, how, job);
  } else {
    t.fmr.rate = t.fnmr.rate = std::nan("");
  }
  t.gfar = rate_of(lists.all, threshold, false, how, job);
  t.gfrr = rate_of(lists.all, threshold, true, how, job);
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
  const BothLists chosen = both_lists(run, track_of(run, options.track), folder);
  ThresholdReport report;
  report.protocol = chosen.made.protocol;
  report.track = chosen.made.track;
  report.same = options.same;
  const BootstrapOptions how{options.replicates, options.level, options.seed};

  const auto c = std::make_shared<const Comparisons>(chosen.made.scores, chosen.made.labels);
  std::set<std::int32_t> people;
  for (const std::vector<std::int32_t>& side : chosen.made.people)
    people.insert(side.begin(), side.end());
  report.people = std::ssize(people);
  report.impostor = c->impostor();
  report.recommended = recommend_threshold(c, chosen.made.graph(), options.fmr, how, job);

  const auto put = [&](const BothLists& lists, const fs::path& where) {
    report.tested_on = run_name(where);
    report.samples = lists.samples;
    report.failed = lists.failed;
    report.at_threshold = test_at(lists, report.recommended.threshold, how, job);
    if (report.recommended.safe)
      report.at_safe = test_at(lists, *report.recommended.safe, how, job);
  };
  if (options.same) {
    put(chosen, folder);
    return report;
  }
  const RunScores other = read_run_scores(test);
  if (same_comparisons(run, other))
    throw std::invalid_argument(
        "both runs hold the same comparisons, so nothing is tested; give a run on other data, or "
        "ask for the same comparisons");
  put(both_lists(other, track_like(other, report.track), test), test);
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
