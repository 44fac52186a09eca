#include "facebench/analysis/calibration_report.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "facebench/analysis/internal/counted_list.h"
#include "facebench/analysis/internal/interval_json.h"
#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/io/file.h"
#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/calibration.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "facebench calibration";

void fill_tippett(const Comparisons& llrs, CalibrationReport& report) {
  constexpr int kPoints = 200;
  const double highest = llrs.scores().front(), lowest = llrs.scores().back();
  for (int k = 0; k <= kPoints; ++k) {
    const double at = lowest + (highest - lowest) * k / kPoints;
    std::int64_t above[2] = {0, 0};
    for (std::size_t i = 0; i < llrs.size() && llrs.scores()[i] >= at; ++i)
      ++above[llrs.labels()[i]];
    report.log10_lr.push_back(at / std::numbers::ln10);
    report.genuine_share.push_back(static_cast<double>(above[1]) /
                                   static_cast<double>(report.genuine));
    report.impostor_share.push_back(static_cast<double>(above[0]) /
                                    static_cast<double>(report.impostor));
  }
}

std::vector<double> numbers_of(const Json& value) {
  std::vector<double> result;
  for (const Json& x : value) result.push_back(x.get<double>());
  return result;
}

}  // namespace

void CalibrationOptions::describe(OptionsBuilder<CalibrationOptions>& o) {
  o.name("CalibrationOptions", "How scores become likelihood ratios, and where that is tested.");
  o.choice("method", &CalibrationOptions::method, "logistic (a line) or pav (rising steps)",
           calibration_methods().names());
  o.field("prior", &CalibrationOptions::prior, "share of genuine comparisons that errors assume",
          1e-9, 1 - 1e-9);
  o.field("bins", &CalibrationOptions::bins, "of the calibration error", 1, 1000);
  describe_test(o, "calibration", "confidence level of the intervals", 0.5);
}

CalibrationReport calibration_report(const fs::path& folder, const fs::path& test,
                                     const CalibrationOptions& options, const Job& job) {
  check_options(options);
  check_test_run(test, options.same, "the calibration");
  const RunScores run = read_run_scores(folder);
  const ListedRun made_on = counted_list(run, track_of(run, options.track), folder);
  CalibrationReport report;
  report.protocol = made_on.protocol;
  report.track = made_on.track;
  report.same = options.same;
  report.prior = options.prior;
  report.calibrator = fit_calibrator(Comparisons(made_on.scores, made_on.labels), options.method);

  const auto measure = [&](ListedRun list, const fs::path& where) {
    report.tested_on = run_name(where);
    for (double& score : list.scores) score = report.calibrator.apply(score);
    const auto c = std::make_shared<const Comparisons>(list.scores, list.labels);
    report.genuine = c->genuine();
    report.impostor = c->impostor();
    const std::vector<Statistic> statistics = {
        cllr_statistic(c), min_cllr_statistic(c),
        calibration_error_statistic(c, options.prior, static_cast<int>(options.bins))};
    const Bootstrap bootstrap(list.graph(), Resampling::dyadic);
    const Replicates r = bootstrap.replicates_with_freedom(
        statistics, {options.replicates, options.level, options.seed}, job);
    double* values[] = {&report.cllr, &report.min_cllr, &report.calibration_error};
    Interval* intervals[] = {&report.cllr_interval, &report.min_cllr_interval,
                             &report.calibration_error_interval};
    for (std::size_t s = 0; s < statistics.size(); ++s) {
      *values[s] = r.points[s];
      *intervals[s] = interval_of(r, s, statistics[s], options.level);
    }
    for (std::size_t i = 0; i < c->size(); ++i) {
      report.misleading_genuine += c->labels()[i] && c->scores()[i] < 0;
      report.misleading_impostor += !c->labels()[i] && c->scores()[i] > 0;
    }
    fill_tippett(*c, report);
  };
  if (options.same) {
    measure(made_on, folder);
    return report;
  }
  const RunScores other = read_run_scores(test);
  measure(counted_list(other, track_like(other, report.track), test), test);
  return report;
}

Json calibration_report_json(const CalibrationReport& report) {
  return {{"protocol", report.protocol},
          {"track", report.track},
          {"tested_on", report.tested_on},
          {"same", report.same},
          {"prior", report.prior},
          {"calibrator", calibrator_json(report.calibrator)},
          {"genuine", report.genuine},
          {"impostor", report.impostor},
          {"misleading_genuine", report.misleading_genuine},
          {"misleading_impostor", report.misleading_impostor},
          {"cllr", report.cllr},
          {"cllr_interval", interval_json(report.cllr_interval)},
          {"min_cllr", report.min_cllr},
          {"min_cllr_interval", interval_json(report.min_cllr_interval)},
          {"calibration_error", report.calibration_error},
          {"calibration_error_interval", interval_json(report.calibration_error_interval)},
          {"tippett",
           {{"log10_lr", report.log10_lr},
            {"genuine", report.genuine_share},
            {"impostor", report.impostor_share}}}};
}

Json calibrator_json(const ScoreCalibrator& calibrator) {
  return {{"format", kFormat},         {"version", 1},          {"method", calibrator.method},
          {"score", calibrator.score}, {"llr", calibrator.llr}, {"slope", calibrator.slope}};
}

ScoreCalibrator read_calibrator(const fs::path& path) {
  ScoreCalibrator c;
  try {
    const Json file = parse_json(read_file(path), path.string());
    if (file.at("format") != kFormat || file.at("version") != 1)
      fail(path.string(), "this is not a calibration that this version of facebench reads");
    c.method = file.at("method").get<std::string>();
    c.score = numbers_of(file.at("score"));
    c.llr = numbers_of(file.at("llr"));
    c.slope = file.at("slope").get<double>();
  } catch (const Json::exception&) {
    fail(path.string(), "a calibration has format, version, method, score, llr and slope",
         "facebench calibrate writes such files");
  }
  const auto rising = [](const std::vector<double>& v) { return std::ranges::is_sorted(v); };
  if (c.score.empty() || c.score.size() != c.llr.size() || !rising(c.score) || !rising(c.llr) ||
      std::ranges::adjacent_find(c.score) != c.score.end() || c.slope < 0)
    fail(path.string(), "scores and likelihood ratios must rise together, one for each");
  return c;
}

}  // namespace facebench
