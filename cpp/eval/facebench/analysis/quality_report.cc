#include "facebench/analysis/quality_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "facebench/analysis/internal/counted_list.h"
#include "facebench/analysis/internal/interval_json.h"
#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/core/extension.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The error that a curve has at each hundredth of discards, as far as it goes.
Json curve_json(const RejectCurve& curve) {
  Json shares = Json::array(), errors = Json::array();
  std::size_t point = 0;
  for (int k = 0; k < 100 && curve.size() > 0; ++k) {
    const double share = k / 100.0;
    while (point + 1 < curve.size() && curve.rejected[point + 1] <= share) ++point;
    shares.push_back(share);
    errors.push_back(curve.error[point]);
  }
  return {{"discarded", shares}, {"fnmr", errors}};
}

std::string convention(const DiscardOptions& o) {
  const std::string what =
      o.discard == "images"
          ? "Images are discarded, and a comparison with either of its images"
          : fmt::format("Genuine comparisons are discarded by the {} of their images' qualities{}",
                        o.pair_quality,
                        o.pair_quality == "minimum" ? " (Grother & Tabassi 2007)" : "");
  return what + (o.discard_threshold == "kept"
                     ? "; the threshold is kept."
                     : fmt::format("; the threshold is chosen again for a FAR of {} of what is "
                                   "left, impostor comparisons discarded alike.",
                                   o.far));
}

}  // namespace

std::vector<double> quality_of_units(const NamedQuality& quality, const TrialSet& trials) {
  std::unordered_map<std::string, double> known;
  for (std::size_t i = 0; i < quality.samples.size(); ++i)
    known.emplace(compared_name(quality.samples[i]), quality.values.at(i));
  std::vector<double> values;
  for (std::size_t u = 0; u < trials.units(); ++u) {
    const std::string name = compared_name(trials.unit_name(static_cast<std::int32_t>(u)));
    auto found = known.find(name);
    if (found == known.end()) found = known.find(without_extension(name));
    values.push_back(found == known.end() ? kNan : found->second);
  }
  return values;
}

std::vector<NamedQuality> read_named_qualities(const fs::path& path,
                                               const std::vector<std::string>& columns,
                                               const std::optional<std::string>& key) {
  const CsvTable table = read_csv(path);
  const std::size_t names = key ? table.column(*key) : 0;
  std::vector<NamedQuality> result;
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    const std::string& title = table.columns()[c];
    if (c == names || (!columns.empty() && !std::ranges::count(columns, title))) continue;
    NamedQuality quality{title, {}, {}};
    for (std::size_t row = 0; row < table.rows(); ++row) {
      quality.samples.push_back(table.cell(row, names));
      quality.values.push_back(table.cell(row, c).empty() ? kNan : table.number(row, c));
    }
    result.push_back(std::move(quality));
  }
  for (const std::string& wanted : columns) table.column(wanted);  // an unknown one is named
  if (result.empty())
    fail(path.string(), "a table of qualities needs two columns",
         "The first names samples, another gives their quality");
  return result;
}

QualityReport quality_report(const fs::path& folder, std::span<const NamedQuality> named,
                             const std::optional<std::string>& track, DiscardOptions options,
                             const fs::path& other, const Job& job) {
  check_options(options);
  const RunScores run = read_run_scores(folder);
  ListedRun list = counted_list(run, track_of(run, track), folder);
  QualityReport report;
  report.protocol = list.protocol;
  report.track = list.track;
  report.left_out = list.left_out;
  std::vector<SampleQuality> qualities;
  for (const NamedQuality& q : named)
    qualities.push_back({q.name, quality_of_units(q, run.trials)});
  list = list.only([&](std::size_t i) {
    const bool complete = std::ranges::all_of(qualities, [&](const SampleQuality& q) {
      return std::isfinite(q.values[static_cast<std::size_t>(list.units[0][i])]) &&
             std::isfinite(q.values[static_cast<std::size_t>(list.units[1][i])]);
    });
    report.without_quality += !complete;
    return complete;
  });
  if (list.scores.empty())
    fail(folder.string(), "no comparison has all qualities",
         fmt::format("The samples are called such as '{}'", run.trials.unit_name(0)));
  const ChosenThreshold threshold =
      choose_threshold(list, options.threshold, options.far, other, report.track);
  report.threshold_from = threshold.from;
  if (options.discard_threshold == "kept") options.threshold = threshold.value;
  report.options = options;

  // Units that are not compared may have no quality; nothing looks at it.
  report.result = error_versus_discard(
      {list.scores, list.labels, list.units[0], list.units[1], run.trials.unit_identities()},
      qualities, options, job);
  return report;
}

Json quality_report_json(const QualityReport& report) {
  const DiscardResult& r = report.result;
  Json measures = Json::array(), differences = Json::array();
  Json oracle = curve_json(r.oracle);
  oracle["areas"] = Json::array();
  if (r.oracle.size() > 0)
    for (const double limit : report.options.limits)
      oracle["areas"].push_back(
          {{"limit", limit}, {"value", number_or_null(r.oracle.area(limit))}});
  for (const DiscardMeasure& m : r.measures) {
    Json areas = Json::array();
    for (const DiscardArea& a : m.areas)
      areas.push_back({{"limit", a.limit},
                       {"value", number_or_null(a.value)},
                       {"interval", interval_json(a.interval)},
                       {"oracle", number_or_null(a.oracle)},
                       {"gain", number_or_null(a.gain)}});
    measures.push_back({{"name", m.name}, {"areas", areas}, {"curve", curve_json(m.curve)}});
  }
  for (const DiscardDifference& d : r.differences)
    differences.push_back({{"first", r.measures[d.first].name},
                           {"second", r.measures[d.second].name},
                           {"limit", d.limit},
                           {"value", number_or_null(d.paired.value)},
                           {"interval", interval_json(d.paired.interval)},
                           {"p", number_or_null(d.paired.p_value)}});
  return {{"protocol", report.protocol},
          {"track", report.track},
          {"options", options_to_json(report.options)},
          {"convention", convention(report.options)},
          {"threshold", r.threshold},
          {"threshold_from", report.threshold_from},
          {"left_out", report.left_out},
          {"without_quality", report.without_quality},
          {"fnmr", r.fnmr},
          {"genuine", r.genuine},
          {"impostor", r.impostor},
          {"samples", r.samples},
          {"measures", measures},
          {"oracle", oracle},
          {"differences", differences}};
}

}  // namespace facebench
