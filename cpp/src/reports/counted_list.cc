#include "reports/counted_list.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/metrics/tar_at_far.h"
#include "facebench/protocols/listed_trials.h"

namespace facebench {

namespace fs = std::filesystem;

std::vector<std::int32_t> CountedList::people(const TrialSet& trials, int side) const {
  std::vector<std::int32_t> result;
  result.reserve(units.size());
  for (const Comparison& c : units)
    result.push_back(trials.unit_identity(side == 0 ? c.first : c.second));
  return result;
}

CountedList CountedList::only(const std::function<bool(std::size_t)>& keep) const {
  CountedList kept;
  kept.left_out = left_out;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!keep(i)) continue;
    kept.scores.push_back(scores[i]);
    kept.labels.push_back(labels[i]);
    if (!folds.empty()) kept.folds.push_back(folds[i]);
    kept.units.push_back(units[i]);
  }
  return kept;
}

std::size_t track_of(const RunScores& run, const std::optional<std::string>& wanted) {
  std::string known;
  for (std::size_t t = 0; t < run.trials.tracks.size(); ++t) {
    const std::string& name = run.trials.tracks[t].name;
    if (wanted ? name == *wanted : run.trials.tracks.size() == 1) return t;
    known += (known.empty() ? "" : ", ") + name;
  }
  throw std::invalid_argument(wanted
                                  ? fmt::format("the run has no track '{}': {}", *wanted, known)
                                  : fmt::format("the run has several tracks; give one: {}", known));
}

CountedList counted_list(const RunScores& run, std::size_t track, const fs::path& folder,
                         const EvaluationOptions& options) {
  const Track& t = run.trials.tracks[track];
  const auto* trials = dynamic_cast<const ListedTrials*>(t.trials.get());
  if (trials == nullptr || score_count(run.scores[track]) != trials->slots())
    fail(folder.string(),
         fmt::format("track '{}' is no list of comparisons with all scores", t.name),
         "Such reports are made of lists");
  const std::span<const double> scores = list_scores(run.scores[track]);
  const std::vector<std::uint8_t> left_out = left_out_units(options, run.trials, run.status);
  const auto counts = [&](std::int32_t unit) {
    return left_out.empty() || !left_out[static_cast<std::size_t>(unit)];
  };
  CountedList list;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const Comparison c = trials->comparisons[i];
    if (!counts(c.first) || !counts(c.second)) {
      ++list.left_out;
      continue;
    }
    list.scores.push_back(scores[i]);
    list.labels.push_back(trials->genuine[i]);
    if (!trials->fold.empty()) list.folds.push_back(trials->fold[i]);
    list.units.push_back(c);
  }
  return list;
}

double threshold_at(const CountedList& list, double far) {
  return tar_at_far(Comparisons(list.scores, list.labels), far, "exact").threshold;
}

ChosenThreshold choose_threshold(const CountedList& list, std::optional<double> given, double far,
                                 const fs::path& other, const std::string& track) {
  if (given) {
    if (!other.empty()) throw std::invalid_argument("give a threshold or another run, not both");
    return {*given, "It was given."};
  }
  if (other.empty())
    return {threshold_at(list, far),
            fmt::format("It gives a FAR of {} on these comparisons.", far)};
  const RunScores run = read_run_scores(other);
  std::optional<std::string> name;
  if (run.trials.tracks.size() > 1) name = track;
  return {threshold_at(counted_list(run, track_of(run, name), other), far),
          fmt::format("It gives a FAR of {} in the run {}.", far, other.filename().string())};
}

void check_test_run(const fs::path& test, bool same, std::string_view what) {
  if (test.empty() == same) return;
  throw std::invalid_argument(
      same ? "a run to test on is given, and the same comparisons are asked for"
           : fmt::format("give another run to test {} on, or ask for the same comparisons", what));
}

std::string percent_text(double rate) {
  return std::isnan(rate) ? "" : fmt::format("{:.4g}", 100 * rate);
}

std::string interval_text(const Interval& i, double scale) {
  if (std::isnan(i.low)) return "too few";
  return fmt::format("[{:.3g}, {:.3g}]", scale * i.low, scale * i.high);
}

Json interval_json(const Interval& i) {
  return std::isnan(i.low)
             ? Json()
             : Json{{"low", i.low}, {"high", i.high}, {"level", i.level}, {"method", i.method}};
}

Json number_json(double x) { return std::isfinite(x) ? Json(x) : Json(); }

}  // namespace facebench
