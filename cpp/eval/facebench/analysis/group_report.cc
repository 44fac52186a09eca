#include "facebench/analysis/group_report.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "facebench/analysis/internal/attributes.h"
#include "facebench/analysis/internal/counted_list.h"
#include "facebench/analysis/internal/interval_json.h"
#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/core/extension.h"
#include "facebench/core/options.h"
#include "facebench/io/text.h"
#include "facebench/runs/run_folder.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnknown = "(unknown)";

Json cells_json(const std::vector<GroupCell>& cells, const std::vector<std::string>& groups) {
  Json list = Json::array();
  for (const GroupCell& c : cells)
    list.push_back({{"first", groups[static_cast<std::size_t>(c.first)]},
                    {"second", groups[static_cast<std::size_t>(c.second)]},
                    {"comparisons", c.comparisons},
                    {"errors", c.errors},
                    {"rate", number_or_null(c.rate)},
                    {"interval", interval_json(c.interval)},
                    {"few", c.few}});
  return list;
}

}  // namespace

void GroupReportOptions::describe(OptionsBuilder<GroupReportOptions>& o) {
  o.name("GroupReportOptions", "Which groups, and at which threshold.");
  o.field("column", &GroupReportOptions::column, "column with the groups; default: the second");
  o.field("key", &GroupReportOptions::key,
          "column that names people or photographs; default: the first");
  o.field("track", &GroupReportOptions::track, "track of the run; default: its only verification");
  o.field("threshold", &GroupReportOptions::threshold,
          "accept scores of at least this; default: what gives the FAR", -1e300, 1e300);
  o.field("far", &GroupReportOptions::far, "FAR over all groups that sets the threshold", 0, 1);
  o.choice("impostors", &GroupReportOptions::impostors,
           "all, or matched: impostor comparisons within a group alone", {"all", "matched"});
}

GroupReport group_report(const fs::path& folder, const fs::path& attributes,
                         const GroupReportOptions& options, const GroupRatesOptions& how,
                         const fs::path& other, const Job& job) {
  check_options(options);
  const RunScores run = read_run_scores(folder);
  ListedRun list = counted_list(run, track_of(run, options.track), folder);
  Attributes table(attributes, options.key, options.column);

  // Groups in the order of their names, the unknown one last.
  std::map<std::int32_t, std::string> group_of;  // of each unit that is compared
  std::set<std::string> names;
  GroupReport report;
  for (const std::vector<std::int32_t>& side : list.units)
    for (const std::int32_t unit : side) {
      if (group_of.contains(unit)) continue;
      const auto person = static_cast<std::size_t>(run.trials.unit_identity(unit));
      const std::string group =
          table.of(run.trials.identity_names[person], run.trials.unit_name(unit));
      group_of.emplace(unit, group);
      if (group.empty())
        ++report.unknown;
      else
        names.insert(group);
    }
  if (names.empty())
    fail(attributes.string(), "no row names anybody of the run",
         fmt::format("Names are such as '{}' or '{}'", run.trials.identity_names.at(0),
                     run.trials.names.at(0)));
  if (options.impostors == "matched")
    list = list.only([&](std::size_t i) {
      const std::string& group = group_of.at(list.units[0][i]);
      const bool matched = !group.empty() && group == group_of.at(list.units[1][i]);
      report.not_matched += !list.labels[i] && !matched;
      return list.labels[i] || matched;
    });
  GroupedComparisons c{list.scores, list.labels, {}, {}, {}, {}, {names.begin(), names.end()}, -1};
  if (report.unknown > 0) {
    c.unknown = static_cast<std::int32_t>(c.groups.size());
    c.groups.emplace_back(kUnknown);
  }
  std::map<std::string, std::int32_t> number;
  for (std::size_t g = 0; g < names.size(); ++g) number[c.groups[g]] = static_cast<std::int32_t>(g);
  number[""] = c.unknown;
  std::vector<std::int32_t> groups[2];
  for (const int side : {0, 1})
    for (const std::int32_t unit : list.units[side])
      groups[side].push_back(number.at(group_of.at(unit)));
  c.first_person = list.people[0];
  c.second_person = list.people[1];
  c.first_group = groups[0];
  c.second_group = groups[1];

  report.protocol = list.protocol;
  report.track = list.track;
  report.column = table.column();
  report.comparisons = static_cast<std::int64_t>(list.scores.size());
  report.left_out = list.left_out;
  report.unused_rows = table.unused();
  const ChosenThreshold threshold =
      choose_threshold(list, options.threshold, options.far, other, report.track);
  report.threshold_from = threshold.from;
  GroupRatesOptions rates = how;
  // Other groups would have other impostors: what was left out cannot be dealt again.
  if (options.impostors == "matched") rates.permutations = 0;
  report.rates = group_rates(c, threshold.value, rates, job);
  return report;
}

Json group_report_json(const GroupReport& report) {
  const GroupRates& r = report.rates;
  Json groups = Json::array(), measures = Json::array();
  for (std::size_t g = 0; g < r.groups.size(); ++g)
    groups.push_back({{"name", r.groups[g]}, {"people", r.people[g]}});
  for (const GroupMeasureResult& m : r.measures)
    measures.push_back({{"name", m.name},
                        {"value", number_or_null(m.value)},
                        {"interval", interval_json(m.interval)},
                        {"p", number_or_null(m.p)}});
  return {{"protocol", report.protocol},
          {"track", report.track},
          {"column", report.column},
          {"threshold", r.threshold},
          {"threshold_from", report.threshold_from},
          {"comparisons", report.comparisons},
          {"left_out", report.left_out},
          {"not_matched", report.not_matched},
          {"unknown", report.unknown},
          {"unused_rows", report.unused_rows},
          {"fmr", number_or_null(r.fmr)},
          {"fnmr", number_or_null(r.fnmr)},
          {"groups", groups},
          {"fmr_cells", cells_json(r.fmr_cells, r.groups)},
          {"fnmr_cells", cells_json(r.fnmr_cells, r.groups)},
          {"measures", measures}};
}

}  // namespace facebench
