#include "protocols/searched_units.h"

#include <span>
#include <stdexcept>
#include <unordered_set>

namespace facebench {
namespace {

std::shared_ptr<const Searches> searches_of(const KeptScores& scores, const SearchedUnits& used,
                                            const std::vector<std::int32_t>& probe_identity,
                                            const TrackSide& gallery, const Job& job) {
  if (const auto* outcomes = std::get_if<KeptOutcomes>(&scores)) {
    if (!used.whole && !outcomes->enrolled)
      throw std::invalid_argument("of these searches no outcomes were kept");
    auto searches =
        std::make_shared<const Searches>(used.whole ? outcomes->all : *outcomes->enrolled);
    if (searches->size() != used.probes.size())
      throw std::invalid_argument("the outcomes are those of other searches");
    return searches;
  }
  const std::span<const float> all = std::get<std::vector<float>>(scores);
  std::vector<float> some;
  if (!used.whole) {
    some.reserve(used.probes.size() * used.gallery.size());
    for (const std::size_t p : used.probes)
      for (const std::size_t g : used.gallery) some.push_back(all[p * gallery.identity.size() + g]);
  }
  return std::make_shared<const Searches>(used.whole ? all : std::span<const float>(some),
                                          probe_identity,
                                          at_positions(gallery.identity, used.gallery), job);
}

}  // namespace

SearchedUnits searched_units(const TrackSide& probes, const TrackSide& gallery) {
  SearchedUnits used;
  std::unordered_set<std::int32_t> enrolled, left;
  for (std::size_t i = 0; i < gallery.identity.size(); ++i) {
    enrolled.insert(gallery.identity[i]);
    if (gallery.left_out[i]) continue;
    left.insert(gallery.identity[i]);
    used.gallery.push_back(i);
  }
  for (std::size_t i = 0; i < probes.identity.size(); ++i) {
    if (probes.left_out[i]) continue;
    if (enrolled.contains(probes.identity[i]) == left.contains(probes.identity[i]))
      used.probes.push_back(i);
  }
  used.whole = used.probes.size() == probes.identity.size() &&
               used.gallery.size() == gallery.identity.size();
  return used;
}

Resampled<Searches> searchable(const KeptScores& scores, const TrackSide& probes,
                               const TrackSide& gallery, const ScoredTrials& scored,
                               const Job& job) {
  const SearchedUnits used = searched_units(probes, gallery);
  if (used.gallery.empty() || used.probes.empty()) return {};
  const std::vector<std::int32_t> people = at_positions(probes.identity, used.probes);
  Resampled<Searches> result;
  result.data = searches_of(scores, used, people, gallery, job);
  // People are drawn among the probes; the gallery stays as it is.
  if (scored.intervals && std::unordered_set<std::int32_t>(people.begin(), people.end()).size() > 1)
    result.bootstrap = [people, how = scored.intervals->of_people] {
      return Bootstrap({people, people, {}}, how);
    };
  return result;
}

}  // namespace facebench
