#include "facebench/lists/internal/pair_collector.h"

#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/disjoint_sets.h"
#include "facebench/core/error.h"
#include "facebench/core/nfc.h"

namespace facebench {

void PairCollector::begin_track(std::string name) {
  tracks_.push_back({std::move(name), {}, {}});
  seen_.clear();
}

std::int32_t PairCollector::sample(std::string_view text, Position position) {
  const std::string name = sample_name(text, *blemishes_, [&] { return where_(position); });
  const auto next = static_cast<std::int32_t>(names_.size());
  const auto [at, fresh] = may_change_in_nfc(name) ? samples_.try_emplace(nfc(name), next)
                                                   : samples_.try_emplace(name, next);
  if (fresh)
    names_.push_back(name);
  else if (names_[at->second] != name)
    forms_.count(name);
  return at->second;
}

void PairCollector::add(std::string_view first, std::string_view second, bool genuine,
                        std::int32_t fold, Position position) {
  const std::int32_t a = sample(first, position), b = sample(second, position);
  named_at_.resize(names_.size(), position);
  const auto where = [&] { return where_(position); };
  if (a == b) blemishes_->add(BlemishKind::self_comparison, where, [&] { return names_[a]; });
  const auto [low, high] = std::minmax(a, b);
  const auto key = static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint32_t>(high);
  if (const auto [earlier, fresh] = seen_.try_emplace(key, position); !fresh)
    blemishes_->add(BlemishKind::repeated_pair, where, [&, earlier = earlier] {
      return fmt::format("{} and {}, as in {}", names_[a], names_[b],
                         blemishes_->place(where_(earlier->second)));
    });
  ListedTrials& track = tracks_.back().trials;
  track.comparisons.push_back({a, b});
  track.genuine.push_back(genuine ? 1 : 0);
  if (fold >= 0) track.fold.push_back(fold);
  tracks_.back().position.push_back(position);
}

void PairCollector::number_folds(std::int64_t folds, bool genuine_too, const std::string& list) {
  ListedTrials& track = tracks_.back().trials;
  track.fold.resize(track.comparisons.size());
  for (const std::uint8_t kind : {1, 0}) {
    if (kind == 1 && !genuine_too) continue;
    const std::int64_t all = std::ranges::count(track.genuine, kind);
    if (all == 0 || all % folds != 0)
      fail(list,
           fmt::format("{} {} comparisons cannot be cut into {} folds of one size", all,
                       kind == 1 ? "genuine" : "impostor", folds),
           "The list was cut off, or the protocol states another number of folds.");
    std::int64_t at = 0;
    for (std::size_t k = 0; k < track.genuine.size(); ++k)
      if (track.genuine[k] == kind) track.fold[k] = static_cast<std::int32_t>(at++ / (all / folds));
  }
}

// For each sample one of those that genuine comparisons connect it with, the same for all of them.
std::vector<std::int32_t> PairCollector::connected() const {
  DisjointSets people(names_.size());
  for (const Gathered& gathered : tracks_) {
    const ListedTrials& track = gathered.trials;
    for (std::size_t k = 0; k < track.comparisons.size(); ++k)
      if (track.genuine[k] != 0)
        people.join(track.comparisons[k].first, track.comparisons[k].second);
  }
  return people.all();
}

TrialSet PairCollector::finish(const IdentityRule& rule) {
  std::vector<std::string> person;
  if (rule.person == nullptr) {
    for (const std::int32_t s : connected()) person.push_back(names_[s]);
    return build(person, "the genuine comparisons");
  }
  for (std::size_t s = 0; s < names_.size(); ++s) {
    person.push_back(rule.person(names_[s]));
    if (person.back().empty())
      fail(where_(named_at_[s]).text(),
           fmt::format("the name '{}' does not say who it is", names_[s]),
           fmt::format("The rule '{}' expects: {}.", rule.name, rule.doc));
  }
  return build(person, "their names");
}

TrialSet PairCollector::finish(const std::function<std::string(const std::string&)>& person) {
  std::vector<std::string> people;
  for (const std::string& name : names_) people.push_back(person(name));
  return build(people, "the data set");
}

void PairCollector::count_conflicts(const Gathered& gathered, const TrialSet& set,
                                    std::string_view source) {
  const ListedTrials& t = gathered.trials;
  const auto same = [&](std::size_t k) {
    return set.identity[t.comparisons[k].first] == set.identity[t.comparisons[k].second];
  };
  const auto what = [&](std::size_t k) {
    return fmt::format("{} and {} are listed as {}, but by {} they are {}",
                       set.names[t.comparisons[k].first], set.names[t.comparisons[k].second],
                       t.genuine[k] == 1 ? "genuine" : "impostors", source,
                       same(k) ? "one person" : "two people");
  };
  std::vector<std::size_t> conflicts;
  for (std::size_t k = 0; k < t.comparisons.size(); ++k)
    if (same(k) != (t.genuine[k] == 1)) conflicts.push_back(k);
  if (10 * conflicts.size() > t.comparisons.size())
    fail(where_(gathered.position[conflicts.front()]).text(),
         fmt::format("{}, and so are {} of {} pairs", what(conflicts.front()), conflicts.size(),
                     t.comparisons.size()),
         "Are the words for genuine and impostor exchanged, or is this another list?");
  for (const std::size_t k : conflicts)
    blemishes_->add(
        BlemishKind::label_conflict, [&] { return where_(gathered.position[k]); },
        [&] { return what(k); });
}

TrialSet PairCollector::build(const std::vector<std::string>& person, std::string_view source) {
  TrialSet set;
  TrialSetBuilder builder(set);
  for (std::size_t s = 0; s < names_.size(); ++s) builder.sample(names_[s], person[s]);
  forms_.note_in(set);
  for (Gathered& gathered : tracks_) {
    count_conflicts(gathered, set, source);
    set.tracks.push_back({std::move(gathered.name), std::move(gathered.trials)});
  }
  *this = PairCollector(where_, *blemishes_);
  set.check();
  return set;
}

}  // namespace facebench
