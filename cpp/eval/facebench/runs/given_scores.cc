// Scores in memory with their labels, and with people where they are known.

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/lists/internal/pair_collector.h"
#include "facebench/runs/internal/score_lists.h"

namespace facebench {
namespace {

constexpr const char* kWhere = "labels";

// Numbers people in the order of their names, as facebench.metrics does: intervals draw them by
// number, and must not depend on the order of the rows.
void number_by_name(TrialSet& set) {
  std::vector<std::pair<std::string, std::size_t>> order;
  for (std::size_t p = 0; p < set.identity_names.size(); ++p)
    order.emplace_back(compared_name(set.identity_names[p]), p);
  std::ranges::sort(order);
  std::vector<std::string> names;
  std::vector<std::int32_t> number(order.size());
  for (const auto& [name, p] : order) {
    number[p] = static_cast<std::int32_t>(names.size());
    names.push_back(set.identity_names[p]);
  }
  set.identity_names = std::move(names);
  for (std::int32_t& person : set.identity) person = number[static_cast<std::size_t>(person)];
}

ScoredList of_named_people(std::span<const double> scores, std::span<const std::uint8_t> genuine,
                           std::span<const std::string> first,
                           std::span<const std::string> second) {
  Blemishes blemishes({});
  PairCollector pairs(
      [](PairCollector::Position k) {
        return ListPlace{kWhere, static_cast<int>(k) + 1, ""};
      },
      blemishes);
  pairs.begin_track(kScoresTrack);
  for (std::size_t k = 0; k < scores.size(); ++k)
    pairs.add(fmt::format("{}/{}a", first[k], k), fmt::format("{}/{}b", second[k], k),
              genuine[k] == 1, -1, static_cast<PairCollector::Position>(k));
  ScoredList result;
  result.trials = pairs.finish(
      [](const std::string& sample) { return sample.substr(0, sample.find_last_of('/')); });
  number_by_name(result.trials);
  result.scores.assign(scores.begin(), scores.end());
  result.trials.blemishes = blemishes.kinds();
  return result;
}

}  // namespace

ScoredList scored_list(std::span<const double> scores, std::span<const std::uint8_t> genuine,
                       std::span<const std::string> first, std::span<const std::string> second) {
  if (genuine.size() != scores.size())
    throw std::invalid_argument(
        fmt::format("labels: {} of {} scores", genuine.size(), scores.size()));
  if (first.size() != second.size() || (!first.empty() && first.size() != scores.size()))
    throw std::invalid_argument(
        fmt::format("people: {} and {} of {} scores", first.size(), second.size(), scores.size()));
  std::vector<double> of[2];
  for (std::size_t k = 0; k < scores.size(); ++k) of[genuine[k] == 1].push_back(scores[k]);
  if (of[0].empty() || of[1].empty())
    fail(kWhere, fmt::format("{} genuine and {} impostor scores", of[1].size(), of[0].size()),
         "Both are needed.");
  return first.empty() ? nameless_scores(of[1], of[0], {})
                       : of_named_people(scores, genuine, first, second);
}

}  // namespace facebench
