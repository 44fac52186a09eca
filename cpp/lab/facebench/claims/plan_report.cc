#include "facebench/claims/plan_report.h"

#include <algorithm>
#include <cmath>

#include "facebench/analysis/internal/counted_list.h"
#include "facebench/core/error.h"
#include "facebench/core/options.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// The model of one class: its rate at `threshold`, the correlation where errors are not too few.
VertexModel model_of(const ListedRun& list, bool genuine, double threshold, double frequent) {
  std::vector<std::int32_t> first, second;
  std::vector<std::uint8_t> wrong, wrong_often;
  for (std::size_t i = 0; i < list.scores.size(); ++i) {
    if ((list.labels[i] != 0) != genuine) continue;
    first.push_back(list.people[0][i]);
    second.push_back(list.people[1][i]);
    wrong.push_back((list.scores[i] >= threshold) != genuine);
    wrong_often.push_back((list.scores[i] >= frequent) != genuine);
  }
  VertexModel model = fit_vertex_model(wrong_often, first, second);
  model.rate = fit_vertex_model(wrong, first, second).rate;
  return model;
}

// A score below which a tenth of the genuine comparisons lie.
double tenth_of_genuine(const ListedRun& list) {
  std::vector<double> scores;
  for (std::size_t i = 0; i < list.scores.size(); ++i)
    if (list.labels[i]) scores.push_back(list.scores[i]);
  const auto at = scores.begin() + static_cast<std::ptrdiff_t>(scores.size() / 10);
  std::nth_element(scores.begin(), at, scores.end());
  return *at;
}

Json model_json(const VertexModel& m) {
  return {{"rate", m.rate},
          {"comparisons", m.comparisons},
          {"people", m.people},
          {"correlation", m.correlation},
          {"effective", m.effective}};
}

}  // namespace

void PlanOptions::describe(OptionsBuilder<PlanOptions>& o) {
  o.name("PlanOptions", "What is to be shown.");
  o.field("fmr", &PlanOptions::fmr, "FMR that is to be bounded", 1e-12, 0.5);
  o.field("difference", &PlanOptions::difference, "difference of two systems' FNMR to be shown",
          1e-6, 0.5);
  o.field("likeness", &PlanOptions::likeness,
          "correlation of two systems' errors on the same comparison; 0 asks for the most data", 0,
          0.99);
  o.field("far", &PlanOptions::far, "FAR that sets the threshold of FNMR", 0, 1);
  o.field("level", &PlanOptions::level, "confidence level", 0.5, 0.9999);
  o.field("power", &PlanOptions::power, "probability that the difference is shown", 0.5, 0.9999);
  o.field("track", &PlanOptions::track, "track of the run; default: its only verification");
}

PlanReport plan_report(const fs::path& folder, const PlanOptions& options) {
  check_options(options);
  const ListedRun list = listed_run(folder, options.track);
  const auto genuine = std::ranges::count(list.labels, 1);
  if (genuine == 0 || genuine == std::ssize(list.labels))
    fail(folder.string(), "a plan needs genuine and impostor comparisons");
  PlanReport report;
  report.protocol = list.protocol;
  report.track = list.track;
  report.options = options;
  report.threshold = threshold_at(list, options.far);
  // A hundredth of the impostors, a tenth of the genuine: rare errors say nothing about people.
  report.correlation_threshold = threshold_at(list, std::max(options.far, 0.01));
  report.impostor = model_of(list, false, report.threshold, report.correlation_threshold);
  report.genuine =
      model_of(list, true, report.threshold, std::max(report.threshold, tenth_of_genuine(list)));
  report.bound = bound_without_errors(report.impostor.effective, options.level);
  // A run without an error, or with errors alone, has the rate that it cannot rule out.
  const double unseen = bound_without_errors(report.genuine.effective, options.level);
  const double fnmr = report.genuine.rate == 0   ? unseen
                      : report.genuine.rate == 1 ? 1 - unseen
                                                 : report.genuine.rate;
  report.smallest_difference = smallest_difference(fnmr, report.genuine.effective, options.likeness,
                                                   options.level, options.power);
  report.impostor_needed = comparisons_to_bound(options.fmr, options.level);
  report.people_all_pairs =
      people_for_all_pairs(std::max(report.impostor_needed, 1.0), report.impostor.correlation);
  report.people_disjoint = std::ceil(2 * report.impostor_needed);
  const double independent = comparisons_for_difference(fnmr, options.difference, options.likeness,
                                                        options.level, options.power);
  const double larger = independent / report.genuine.effective;
  report.genuine_needed = std::ceil(larger * static_cast<double>(report.genuine.comparisons));
  report.people_genuine = std::ceil(larger * static_cast<double>(report.genuine.people));
  return report;
}

Json plan_report_json(const PlanReport& r) {
  return {{"protocol", r.protocol},
          {"track", r.track},
          {"options", options_to_json(r.options)},
          {"threshold", r.threshold},
          {"impostor", model_json(r.impostor)},
          {"genuine", model_json(r.genuine)},
          {"bound", r.bound},
          {"smallest_difference", r.smallest_difference},
          {"impostor_needed", r.impostor_needed},
          {"people_all_pairs", r.people_all_pairs},
          {"people_disjoint", r.people_disjoint},
          {"genuine_needed", r.genuine_needed},
          {"people_genuine", r.people_genuine}};
}

}  // namespace facebench
