#include "facebench/protocols/without.h"

#include <fmt/format.h>

#include <filesystem>

#include "facebench/core/error.h"
#include "facebench/protocols/listed_trials.h"

namespace facebench {
namespace {

std::vector<std::uint8_t> units_out(const TrialSet& trials, const Exclusion& exclusion) {
  std::vector<std::uint8_t> out(trials.units(), 0);
  for (std::size_t u = 0; u < out.size(); ++u) {
    const auto unit = static_cast<std::int32_t>(u);
    const std::string& name = trials.unit_name(unit);
    const auto person = static_cast<std::size_t>(trials.unit_identity(unit));
    out[u] = exclusion.covers(trials.identity_names[person], name) ||
             exclusion.samples.contains(
                 std::filesystem::path(name).replace_extension().generic_string());
  }
  return out;
}

}  // namespace

TrialSet without(const TrialSet& trials, const Exclusion& exclusion) {
  const std::vector<std::uint8_t> out = units_out(trials, exclusion);
  const auto goes = [&](std::int32_t unit) { return out[static_cast<std::size_t>(unit)] != 0; };
  const std::string where = exclusion.path.string();
  TrialSet result = trials;
  std::int64_t gone = 0, units = 0;
  for (const std::uint8_t o : out) units += o;
  if (units == 0)
    fail(where, "the list names nobody of this protocol",
         fmt::format("Names are such as 'person\t{}' or 'sample\t{}'",
                     trials.identity_names.empty() ? "" : trials.identity_names.front(),
                     trials.units() > 0 ? trials.unit_name(0) : ""));
  for (Track& track : result.tracks) {
    const auto* list = dynamic_cast<const ListedTrials*>(track.trials.get());
    if (list == nullptr)
      fail(where, fmt::format("track '{}' is no list of comparisons", track.name),
           "People can be left out of lists alone");
    std::vector<std::int64_t> kept;
    for (std::size_t i = 0; i < list->comparisons.size(); ++i)
      if (!goes(list->comparisons[i].first) && !goes(list->comparisons[i].second))
        kept.push_back(static_cast<std::int64_t>(i));
    gone += list->slots() - static_cast<std::int64_t>(kept.size());
    if (kept.empty()) fail(where, fmt::format("it leaves nothing of track '{}'", track.name));
    track.trials = list->only(kept);
  }
  result.lists.push_back({"without", exclusion.path, exclusion.sha256, {}});
  result.notes.push_back(
      fmt::format("{} comparisons were left out by a list of {} people and {} samples: numbers are "
                  "not those of the whole protocol.",
                  gone, exclusion.people.size(), exclusion.samples.size()));
  return result;
}

}  // namespace facebench
