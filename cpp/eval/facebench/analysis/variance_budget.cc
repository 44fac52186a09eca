#include "facebench/analysis/variance_budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>

#include "facebench/analysis/listed_run.h"
#include "facebench/analysis/run_ranking.h"
#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/metrics/summary.h"
#include "facebench/runs/run_folder.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr double kOneSd = 0.6827;  // level of an interval of one sd to either side

// What a run may differ in from the first one, and where that is recorded.
struct Part {
  const char* name;
  std::vector<const char*> places;
};
const std::vector<Part>& parts() {
  static const std::vector<Part> all = {{"detector", {"/preparation/detector"}},
                                        {"crop", {"/preparation/selection", "/preparation/crop"}},
                                        {"training", {"/embeddings/manifest/model_sha256"}}};
  return all;
}

Json recorded(const Json& content, const Part& part) {
  Json values = Json::array();
  for (const char* place : part.places) {
    const Json::json_pointer pointer{std::string(place)};
    values.push_back(content.contains(pointer) ? content.at(pointer) : Json());
  }
  return values;
}

// The part in which a run differs from the first.
std::string difference(const fs::path& first, const Json& of_first, const fs::path& folder,
                       const Json& content, const Job& job) {
  if (const auto why = why_not_comparable(first, folder, job); !why.empty())
    fail(folder.string(),
         fmt::format("is not comparable with {}: {}", first.string(), why[0].what));
  std::vector<std::string> differs, names;
  for (const Part& part : parts()) {
    names.emplace_back(part.name);
    if (recorded(of_first, part) != recorded(content, part)) differs.emplace_back(part.name);
  }
  if (differs.size() != 1)
    fail(folder.string(),
         fmt::format("differs in {}; a run of a variance budget differs in one of {}",
                     differs.empty() ? "nothing" : fmt::format("{}", fmt::join(differs, " and ")),
                     fmt::join(names, ", ")));
  return differs[0];
}

// Null for a number that cannot be drawn again.
using MakeStatistic = std::function<Statistic(std::shared_ptr<const Comparisons>)>;
MakeStatistic statistic_of(const std::string& metric) {
  constexpr std::string_view tar = "tar@far=";
  if (metric == "accuracy") return [](auto c) { return accuracy_statistic(c); };
  if (metric == "auc") return [](auto c) { return auc_statistic(c); };
  if (metric == "eer") return [](auto c) { return eer_statistic(c); };
  if (!metric.starts_with(tar)) return nullptr;
  const std::optional<double> far = number_of(std::string_view(metric).substr(tar.size()));
  if (!far) return nullptr;
  return [far = *far](auto c) { return tar_at_far_statistic(c, far); };
}

double value_of(const Run& run, const std::string& track, const std::string& metric) {
  const Json& value = run.metrics.at("tracks").at(track).at("metrics").at(metric).at("value");
  return value.is_number() ? value.get<double>() : std::nan("");
}

}  // namespace

VarianceBudget variance_budget(std::span<const fs::path> folders,
                               const std::optional<std::string>& metric_asked,
                               const std::optional<std::string>& track,
                               const BootstrapOptions& options, const Job& job) {
  if (folders.empty()) throw std::invalid_argument("a variance budget is of a run");
  const Run first = read_run(folders[0], job);
  const ListedRun list = listed_run(folders[0], track);
  std::vector<std::string> known;
  for (const auto& [name, cell] : first.metrics.at("tracks").at(list.track).at("metrics").items())
    if (statistic_of(name)) known.push_back(name);
  VarianceBudget budget;
  budget.protocol = list.protocol;
  budget.track = list.track;
  budget.metric = metric_asked.value_or(known.empty() ? "" : known[0]);
  if (std::ranges::find(known, budget.metric) == known.end())
    throw std::invalid_argument(
        fmt::format("the run has no '{}' that can be drawn again; there are: {}", budget.metric,
                    fmt::join(known, ", ")));
  budget.value = value_of(first, list.track, budget.metric);
  std::map<std::string, std::vector<double>> values;
  for (const fs::path& folder : folders.subspan(1)) {
    const Run run = read_run(folder, job);
    const std::string part =
        difference(folders[0], first.manifest.content, folder, run.manifest.content, job);
    values.try_emplace(part, 1, budget.value)
        .first->second.push_back(value_of(run, list.track, budget.metric));
  }

  const Statistic statistic = statistic_of(budget.metric)(
      std::make_shared<const Comparisons>(list.scores, list.labels, list.folds));
  const BootstrapOptions how{options.replicates, kOneSd, options.seed};
  // Drawn without regard to folds.
  const auto drawn = [&](const char* name, const std::vector<std::int32_t>(&compared)[2]) {
    const Interval i = Bootstrap({compared[0], compared[1], {}}, Resampling::dyadic)
                           .intervals({&statistic, 1}, how, job)
                           .front();
    budget.sources.push_back({name, (i.high - i.low) / 2, {}, {}});
  };
  drawn("people", list.people);
  drawn("images", list.units);
  for (const char* name : {"training", "detector", "crop"})
    if (const auto found = values.find(name); found != values.end())
      budget.sources.push_back({name, moments(found->second).sd, {}, found->second});
  double total = 0;
  for (const VarianceSource& s : budget.sources)
    if (s.name != "images") total += s.sd * s.sd;
  for (VarianceSource& s : budget.sources)
    if (s.name != "images" && total > 0) s.share = s.sd * s.sd / total;
  return budget;
}

Json variance_budget_json(const VarianceBudget& budget) {
  Json sources = Json::array();
  for (const VarianceSource& s : budget.sources)
    sources.push_back({{"name", s.name},
                       {"sd", number_or_null(s.sd)},
                       {"share", number_or_null(s.share)},
                       {"values", s.values.empty() ? Json() : Json(s.values)}});
  return {{"protocol", budget.protocol},
          {"track", budget.track},
          {"metric", budget.metric},
          {"value", number_or_null(budget.value)},
          {"sources", sources}};
}

}  // namespace facebench
