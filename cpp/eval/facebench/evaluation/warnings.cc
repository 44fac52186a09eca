#include "facebench/evaluation/warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

namespace facebench {
namespace {

constexpr double kManyFailed = 0.05;
constexpr double kManyMissing = 0.1;

std::string reasons(const std::vector<FailedSample>& failed) {
  std::map<SampleStatus, std::int64_t> counts;
  for (const FailedSample& f : failed) ++counts[f.status];
  std::string text;
  for (const auto& [status, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, sample_status_name(status));
  return text;
}

// What turns given scores round. The AUC becomes the same by either remedy; other numbers do not.
std::string causes_of_turned(const TrialSet& trials) {
  const auto file = [&](std::string_view role) {
    const auto list = std::ranges::find(trials.lists, role, &TrialList::role);
    return list == trials.lists.end() ? "" : list->path.filename().string();
  };
  const std::string genuine = file("genuine"), impostor = file("impostor");
  std::string classes = "Or genuine and impostor are exchanged.";
  if (!genuine.empty() && !impostor.empty())
    classes = fmt::format(
        "Or the two files are exchanged (genuine scores were read from {}, impostor scores from "
        "{}): then give them the other way round. Only one of the two is true: either gives this "
        "AUC turned, and each another TAR at a FAR.",
        genuine, impostor);
  return " If the scores are distances (lower = more alike), say so: --distance. If a note says "
         "that "
         "their signs were turned, they were not distances: leave --distance out, or call their "
         "column score. " +
         classes;
}

// The AUC of a track where it is a number of the protocol.
const Number* auc_of(const TrackResult& track) {
  const auto at = std::ranges::find(track.numbers, "auc", &Number::name);
  return at == track.numbers.end() ? nullptr : &*at;
}

}  // namespace

std::vector<std::string> result_warnings(const Result& r) {
  std::vector<std::string> warnings = r.trials.warnings;
  if (const std::int64_t limit = r.trials.limit)
    warnings.push_back(
        fmt::format("A quick look (limit {0}), not the protocol's numbers: at most {0} comparisons "
                    "of each list, or {0} images of another track, were taken.",
                    limit));
  for (std::size_t k = 0; k < r.scores.size(); ++k) {
    const Scores& scores = r.scores[k];
    std::int64_t same = 0;
    while (same < scores.count() && scores.at(same) == scores.at(0)) ++same;
    if (same > 1 && same == scores.count() && std::ranges::count(r.status, SampleStatus::ok) > 0)
      warnings.push_back(fmt::format("Track {}: all {} comparisons have the same score, {:.4f}.",
                                     r.trials.tracks[k].name, same, scores.at(0)));
  }
  for (const TrackResult& t : r.tracks) {
    const double rate = t.failure_to_enrol_rate();
    if (rate > kManyFailed)
      warnings.push_back(
          fmt::format("Track {}: {} of {} {} failed to enrol ({:.1f} %: {}).", t.name,
                      t.failed.size(), t.templates > 0 ? t.templates : t.samples,
                      t.templates > 0 ? "templates" : "samples", 100 * rate, reasons(t.failed)));
  }
  const std::int64_t missing = std::ranges::count(r.status, SampleStatus::missing);
  if (static_cast<double>(missing) > kManyMissing * static_cast<double>(r.status.size()))
    warnings.push_back(fmt::format("{} of the {} names in the lists have no {}.", missing,
                                   r.status.size(), r.score == "given" ? "score" : "embedding"));
  for (const TrackResult& t : r.tracks)
    if (const Number* auc = auc_of(t); auc && auc->value < 0.5)
      warnings.push_back(fmt::format("Track {}: the AUC is {:.4f}, worse than chance.{}", t.name,
                                     auc->value,
                                     r.score == "given" ? causes_of_turned(r.trials) : ""));
  const std::string assumed = text_at(r.embeddings, "/manifest/model/assumed");
  if (!assumed.empty())
    warnings.push_back(fmt::format("Assumed, since the model does not say it: {}.", assumed));
  if (const Json::json_pointer said("/manifest/model/warnings");
      r.embeddings.contains(said) && r.embeddings[said].is_array())
    for (const Json& warning : r.embeddings[said])
      if (warning.is_string()) warnings.push_back(warning.get<std::string>());
  for (const char* of_rows : {"/manifest/batch_dependence", "/manifest/odd_rows"})
    if (std::string said = text_at(r.embeddings, of_rows); !said.empty())
      warnings.push_back(std::move(said));
  return warnings;
}

}  // namespace facebench
