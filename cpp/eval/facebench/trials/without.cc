#include "facebench/trials/without.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/io/spelled_otherwise.h"
#include "facebench/trials/dense_trials.h"
#include "facebench/trials/identification_trials.h"
#include "facebench/trials/listed_trials.h"

namespace facebench {
namespace {

std::string without_extension(const std::string& name) {
  return compared_name(std::filesystem::path(name).replace_extension().generic_string());
}

// Of each unit whether the list names it.
std::vector<std::uint8_t> named_units(const TrialSet& trials, const Exclusion& list) {
  std::vector<std::uint8_t> named(trials.units(), 0);
  for (std::size_t u = 0; u < named.size(); ++u) {
    const auto unit = static_cast<std::int32_t>(u);
    const std::string& name = trials.unit_name(unit);
    const auto person = static_cast<std::size_t>(trials.unit_identity(unit));
    named[u] = list.covers(trials.identity_names[person], name) ||
               list.samples.contains(without_extension(name));
  }
  return named;
}

// What of the list the trials do not have.
std::vector<std::string> not_there(const TrialSet& trials, const Exclusion& list) {
  std::set<std::string> people = list.people, samples = list.samples;
  for (const std::string& person : trials.identity_names) people.erase(compared_name(person));
  for (std::size_t u = 0; u < trials.units(); ++u) {
    const std::string& name = trials.unit_name(static_cast<std::int32_t>(u));
    samples.erase(compared_name(name));
    samples.erase(without_extension(name));
  }
  std::vector<std::string> texts;
  for (const std::string& person : people) texts.push_back("person " + person);
  for (const std::string& sample : samples) texts.push_back("sample " + sample);
  return texts;
}

// New numbers for those that are kept (1), -1 for the others.
std::vector<std::int32_t> numbers_of_kept(const std::vector<std::uint8_t>& keep) {
  std::vector<std::int32_t> number(keep.size(), -1);
  std::int32_t next = 0;
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) number[i] = next++;
  return number;
}

template <class T>
std::vector<T> kept_of(const std::vector<T>& values, const std::vector<std::uint8_t>& keep) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (keep[i]) kept.push_back(values[i]);
  return kept;
}

using Numbers = std::span<const std::int32_t>;

std::int32_t number_of(std::int32_t unit, Numbers number) {
  return number[static_cast<std::size_t>(unit)];
}

std::vector<std::int32_t> renumbered(const std::vector<std::int32_t>& units, Numbers number) {
  std::vector<std::int32_t> kept;
  for (const std::int32_t u : units)
    if (number_of(u, number) >= 0) kept.push_back(number_of(u, number));
  return kept;
}

ListedTrials renumbered(const ListedTrials& list, Numbers number) {
  ListedTrials kept;
  for (std::size_t k = 0; k < list.comparisons.size(); ++k) {
    const Comparison c{number_of(list.comparisons[k].first, number),
                       number_of(list.comparisons[k].second, number)};
    if (c.first < 0 || c.second < 0) continue;
    kept.comparisons.push_back(c);
    kept.genuine.push_back(list.genuine[k]);
    if (!list.fold.empty()) kept.fold.push_back(list.fold[k]);
  }
  return kept;
}

DenseTrials renumbered(const DenseTrials& dense, Numbers number) {
  DenseTrials kept;
  kept.triangle = dense.triangle;
  kept.rows = renumbered(dense.rows, number);
  kept.columns = renumbered(dense.columns, number);
  for (std::size_t k = 0; k < dense.mask.size(); ++k)
    if (number_of(dense.rows[k / dense.columns.size()], number) >= 0 &&
        number_of(dense.columns[k % dense.columns.size()], number) >= 0)
      kept.mask.push_back(dense.mask[k]);
  return kept;
}

IdentificationTrials renumbered(const IdentificationTrials& search, Numbers number) {
  IdentificationTrials kept;
  kept.gallery = renumbered(search.gallery, number);
  kept.probes = renumbered(search.probes, number);
  return kept;
}

// The trials with other numbers for the units, without those whose number is -1.
std::shared_ptr<const Trials> renumbered(const Track& track, Numbers number,
                                         const std::string& where) {
  std::shared_ptr<const Trials> trials;
  if (const auto* list = dynamic_cast<const ListedTrials*>(track.trials.get()))
    trials = std::make_shared<ListedTrials>(renumbered(*list, number));
  else if (const auto* dense = dynamic_cast<const DenseTrials*>(track.trials.get()))
    trials = std::make_shared<DenseTrials>(renumbered(*dense, number));
  else if (const auto* search = dynamic_cast<const IdentificationTrials*>(track.trials.get()))
    trials = std::make_shared<IdentificationTrials>(renumbered(*search, number));
  else
    fail(where, fmt::format("track '{}' compares all of its people", track.name),
         "Nobody can be left out of it");
  if (trials->slots() == 0)
    fail(where, fmt::format("it leaves nothing of track '{}'", track.name),
         "Leave out less: a larger limit, a shorter list");
  return trials;
}

// The set with these units alone (1 per unit); of samples those that they need. `where` stands in
// messages.
TrialSet only_units(const TrialSet& trials, const std::vector<std::uint8_t>& keep,
                    const std::string& where) {
  TrialSet result = trials;
  std::vector<std::uint8_t> keep_sample = keep;
  if (const Templates& all = trials.templates; all.size() > 0) {
    keep_sample.assign(trials.names.size(), 0);
    const auto samples_of = [&](std::size_t t) {
      const auto begin = static_cast<std::size_t>(all.begin[t]);
      return std::pair(begin, static_cast<std::size_t>(all.begin[t + 1]));
    };
    for (std::size_t t = 0; t < all.size(); ++t)
      if (keep[t])
        for (auto [k, end] = samples_of(t); k < end; ++k)
          keep_sample[static_cast<std::size_t>(all.sample[k])] = 1;
    const std::vector<std::int32_t> sample = numbers_of_kept(keep_sample);
    result.templates = {};
    for (std::size_t t = 0; t < all.size(); ++t) {
      if (!keep[t]) continue;
      result.templates.add(all.names[t], all.identity[t]);
      for (auto [k, end] = samples_of(t); k < end; ++k) {
        const std::int32_t s = sample[static_cast<std::size_t>(all.sample[k])];
        if (all.score.empty())
          result.templates.add_sample(s, all.medium[k]);
        else
          result.templates.add_sample(s, all.medium[k], all.score[k]);
      }
    }
  }
  result.names = kept_of(trials.names, keep_sample);
  result.identity = kept_of(trials.identity, keep_sample);
  const std::vector<std::int32_t> number = numbers_of_kept(keep);
  for (Track& track : result.tracks) track.trials = renumbered(track, number, where);
  return result;
}

// `count` of these numbers, spread evenly.
void choose(const std::vector<std::int64_t>& from, std::int64_t count,
            std::vector<std::int64_t>& chosen) {
  const auto n = static_cast<std::int64_t>(from.size());
  for (std::int64_t k = 0; k < count; ++k)
    chosen.push_back(from[static_cast<std::size_t>(k * n / count)]);
}

// The numbers of at most `limit` comparisons of a list, ascending; of genuine and impostor ones the
// shares that the list has, and one of each at least.
std::vector<std::int64_t> chosen_comparisons(const TrialSet& set, const Trials& list,
                                             std::int64_t limit) {
  std::array<std::vector<std::int64_t>, 2> of;  // impostor, genuine
  for (std::int64_t k = 0; k < list.slots(); ++k) of[list.genuine_at(set, k) ? 1 : 0].push_back(k);
  const auto size = [&](int kind) {
    return static_cast<std::int64_t>(of[static_cast<std::size_t>(kind)].size());
  };
  std::int64_t genuine = (2 * limit * size(1) + list.slots()) / (2 * list.slots());
  genuine = std::clamp<std::int64_t>(genuine, std::min<std::int64_t>(size(1), 1),
                                     std::max<std::int64_t>(limit - (size(0) > 0 ? 1 : 0), 1));
  genuine = std::min(genuine, size(1));
  std::vector<std::int64_t> chosen;
  choose(of[1], genuine, chosen);
  choose(of[0], std::min(limit - genuine, size(0)), chosen);
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace

TrialSet without(const TrialSet& trials, const Exclusions& lists) {
  if (lists.empty()) return trials;
  std::vector<std::uint8_t> keep(trials.units(), 1);
  std::vector<std::string> kinds, notes;
  for (const Exclusion& list : lists) {
    const std::vector<std::uint8_t> named = named_units(trials, list);
    const std::vector<std::string> absent = not_there(trials, list);
    std::vector<std::string> units;
    for (std::size_t u = 0; u < trials.units() && !absent.empty(); ++u)
      units.push_back(trials.unit_name(static_cast<std::int32_t>(u)));
    const std::string spelled = spelled_otherwise(absent, trials.identity_names, units);
    if (std::ranges::count(named, 1) == 0)
      fail(list.path.string(), "the list names nobody of this protocol",
           !spelled.empty()
               ? spelled.substr(1)
               : fmt::format("Names are such as 'person\t{}' or 'sample\t{}'",
                             trials.identity_names.empty() ? "" : trials.identity_names.front(),
                             trials.units() > 0 ? trials.unit_name(0) : ""));
    for (std::size_t u = 0; u < keep.size(); ++u) keep[u] &= named[u] == list.keeps;
    kinds.push_back(fmt::format("a list {}{} people and {} samples",
                                list.keeps ? "that keeps " : "of ", list.people.size(),
                                list.samples.size()));
    if (std::string note = not_there_note(list, absent); !note.empty())
      notes.push_back(note + spelled);
  }
  TrialSet result = only_units(trials, keep, lists.front().path.string());
  std::int64_t gone = 0;
  for (std::size_t t = 0; t < trials.tracks.size(); ++t)
    gone += trials.tracks[t].trials->size(trials).comparisons -
            result.tracks[t].trials->size(result).comparisons;
  for (const Exclusion& list : lists)
    result.lists.push_back({list.keeps ? "only" : "without", list.path, list.sha256, {}});
  result.notes.push_back(fmt::format(
      "{} comparisons were left out by {}: numbers are not those of the whole protocol.", gone,
      fmt::join(kinds, " and ")));
  result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  return result;
}

TrialSet limited(const TrialSet& trials, std::int64_t limit) {
  if (limit < 1) throw std::invalid_argument(fmt::format("limit is {}; it is 1 or more", limit));
  const std::string where = fmt::format("limit {}", limit);
  TrialSet result = trials;
  bool cut = false;
  std::vector<std::uint8_t> keep(trials.units(), 0);
  for (Track& track : result.tracks) {
    std::vector<std::int32_t> units = track.trials->units();
    if (const ListedTrials* list = track.trials->list()) {
      if (track.trials->slots() > limit) {
        track = {track.name, list->only(chosen_comparisons(trials, *list, limit))};
        units = track.trials->units();
        cut = true;
      }
    } else if (static_cast<std::int64_t>(units.size()) > limit) {
      std::ranges::sort(units);
      units.resize(static_cast<std::size_t>(limit));
      std::vector<std::int32_t> same(trials.units(), -1);
      for (const std::int32_t u : units) same[static_cast<std::size_t>(u)] = u;
      track.trials = renumbered(track, same, where);
      cut = true;
    }
    for (const std::int32_t u : units) keep[static_cast<std::size_t>(u)] = 1;
  }
  if (!cut) return result;
  result = only_units(result, keep, where);
  result.limit = limit;
  return result;
}

}  // namespace facebench
