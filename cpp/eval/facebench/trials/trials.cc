#include "facebench/trials/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/core/nfc.h"

namespace facebench {
namespace {

void require(bool ok, const std::string& what) {
  if (!ok) throw std::invalid_argument(what);
}

void check_identities(const std::vector<std::int32_t>& identity, const TrialSet& set) {
  for (const std::int32_t i : identity)
    if (i < 0 || static_cast<std::size_t>(i) >= set.identity_names.size())
      throw std::out_of_range(
          fmt::format("trials: identity {} of {}", i, set.identity_names.size()));
}

void check_templates(const TrialSet& set) {
  const Templates& t = set.templates;
  require(
      t.identity.size() == t.size() && t.begin.size() == t.size() + 1 && t.begin[0] == 0 &&
          t.begin.back() == static_cast<std::int64_t>(t.sample.size()) &&
          t.medium.size() == t.sample.size(),
      fmt::format("trials: {} templates with {} identities, {} bounds, {} samples, {} media",
                  t.size(), t.identity.size(), t.begin.size(), t.sample.size(), t.medium.size()));
  require(t.score.empty() || t.score.size() == t.sample.size(),
          fmt::format("trials: {} detector scores for {} samples of templates", t.score.size(),
                      t.sample.size()));
  for (const float s : t.score)
    require(std::isfinite(s) && s >= 0, fmt::format("trials: a detector score is {}", s));
  check_identities(t.identity, set);
  for (const std::int32_t s : t.sample)
    if (s < 0 || static_cast<std::size_t>(s) >= set.names.size())
      throw std::out_of_range(
          fmt::format("trials: sample {} of {} in a template", s, set.names.size()));
  for (std::size_t k = 0; k < t.size(); ++k)  // rising up to the last: all are inside
    require(t.begin[k] < t.begin[k + 1],
            fmt::format("trials: template {} has no samples", t.names[k]));
  std::unordered_set<std::string_view> names;
  for (std::size_t k = 0; k < t.size(); ++k) {
    require(names.insert(t.names[k]).second,
            fmt::format("trials: two templates are called {}", t.names[k]));
    for (std::int64_t i = t.begin[k]; i < t.begin[k + 1]; ++i) {
      const auto s = static_cast<std::size_t>(t.sample[static_cast<std::size_t>(i)]);
      require(set.identity[s] == t.identity[k],
              fmt::format("trials: template {} of {} holds {}, which is of {}", t.names[k],
                          set.identity_names[static_cast<std::size_t>(t.identity[k])], set.names[s],
                          set.identity_names[static_cast<std::size_t>(set.identity[s])]));
    }
  }
}

}  // namespace

void Templates::add(std::string name, std::int32_t person) {
  names.push_back(std::move(name));
  identity.push_back(person);
  begin.push_back(begin.back());
}

void Templates::add_sample(std::int32_t index, std::int32_t of_medium) {
  sample.push_back(index);
  medium.push_back(of_medium);
  ++begin.back();
}

void Templates::add_sample(std::int32_t index, std::int32_t of_medium, float detector_score) {
  add_sample(index, of_medium);
  score.push_back(detector_score);
}

bool takes_part(const Comparison& c, std::span<const std::uint8_t> left_out) {
  return left_out.empty() || !(left_out[static_cast<std::size_t>(c.first)] ||
                               left_out[static_cast<std::size_t>(c.second)]);
}

bool same_identity(const TrialSet& trials, const Comparison& c) {
  return trials.unit_identity(c.first) == trials.unit_identity(c.second);
}

bool Trials::genuine_at(const TrialSet& set, std::int64_t k) const {
  return same_identity(set, *comparison_at(k));
}

TrialSize Trials::size(const TrialSet& set, std::span<const std::uint8_t> left_out) const {
  TrialSize result;
  for (std::int64_t k = 0; k < slots(); ++k) {
    const auto compared = comparison_at(k);
    if (!compared || !takes_part(*compared, left_out)) continue;
    ++result.comparisons;
    result.genuine += genuine_at(set, k);
  }
  return result;
}

std::int64_t Trials::slots() const {
  std::int64_t slots = 1;
  for (const std::int64_t n : shape()) slots *= n;
  return slots;
}

void TrialSet::check() const {
  require(identity.size() == names.size(),
          fmt::format("trials: {} identities for {} samples", identity.size(), names.size()));
  check_identities(identity, *this);
  check_templates(*this);
  std::unordered_set<std::string_view> track_names;
  for (const Track& t : tracks) {
    require(!t.name.empty() && t.name.find('/') == std::string::npos,
            fmt::format("'{}' is not a name for a track", t.name));
    require(track_names.insert(t.name).second, fmt::format("two tracks are called {}", t.name));
    t.trials->check(*this, t.name);
  }
}

void refuse_blemishes(const TrialSet& trials, std::string_view protocol) {
  if (trials.blemishes.empty()) return;
  std::int64_t all = 0;
  for (const FoundBlemishes& kind : trials.blemishes) all += kind.count;
  std::string first = blemish_sentence(trials.blemishes.front());
  first.pop_back();  // its full stop
  fail(fmt::format("protocol {}", protocol),
       fmt::format("the lists have {} blemishes. {}", all, first),
       "Without 'strict' they are evaluated by these rules.");
}

void UnicodeForms::note_in(TrialSet& set) {
  if (count_ == 0) return;
  std::string note = fmt::format(
      "In {} places a name is written in another Unicode form than before, the first is {}: names "
      "are compared in the form NFC, so it is one name.",
      count_, first_);
  const auto earlier = std::ranges::find(set.notes, noted_);
  if (earlier == set.notes.end())
    set.notes.push_back(note);
  else
    *earlier = note;
  noted_ = std::move(note);
}

std::int32_t TrialSetBuilder::person(const std::string& identity) {
  const auto next = static_cast<std::int32_t>(set_.identity_names.size());
  const auto [person, added] = may_change_in_nfc(identity)
                                   ? identities_.try_emplace(nfc(identity), next)
                                   : identities_.try_emplace(identity, next);
  if (added) {
    set_.identity_names.push_back(identity);
  } else if (set_.identity_names[static_cast<std::size_t>(person->second)] != identity) {
    forms_.count(identity);
    forms_.note_in(set_);
  }
  return person->second;
}

std::int32_t TrialSetBuilder::sample(const std::string& name, const std::string& identity) {
  const std::int32_t who = person(identity);
  const auto next = static_cast<std::int32_t>(set_.names.size());
  const auto [sample, added] = may_change_in_nfc(name) ? samples_.try_emplace(nfc(name), next)
                                                       : samples_.try_emplace(name, next);
  const auto at = static_cast<std::size_t>(sample->second);
  if (added) {
    set_.names.push_back(name);
    set_.identity.push_back(who);
  } else if (set_.identity[at] != who) {
    throw std::invalid_argument(fmt::format("sample {} has two identities", name));
  } else if (set_.names[at] != name) {
    forms_.count(name);
    forms_.note_in(set_);
  }
  return sample->second;
}

}  // namespace facebench
