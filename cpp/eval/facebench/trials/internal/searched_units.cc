#include "facebench/trials/internal/searched_units.h"

#include <span>
#include <stdexcept>
#include <unordered_set>

#include "facebench/metrics/searches.h"

namespace facebench {
namespace {

std::shared_ptr<const Searches> searches_of(const Scores& scores, const SearchedUnits& used,
                                            const std::vector<std::int32_t>& probe_identity,
                                            const TrackSide& gallery, const Job& job) {
  if (scores.outcomes) {
    const auto& outcomes = used.whole ? scores.outcomes : scores.enrolled_outcomes;
    if (!outcomes) throw std::invalid_argument("of these searches no outcomes were kept");
    auto searches = std::make_shared<const Searches>(*outcomes);
    if (searches->size() != used.probes.size())
      throw std::invalid_argument("the outcomes are those of other searches");
    return searches;
  }
  const std::span<const float> all = scores.each_single;
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

void add_searches(const ScoredTrack& scored, const TrackSide& probes, const TrackSide& gallery,
                  const Job& job, Measurable& result) {
  const SearchedUnits used = searched_units(probes, gallery);
  if (used.gallery.empty() || used.probes.empty()) return;
  const std::vector<std::int32_t> people = at_positions(probes.identity, used.probes);
  result.searches = searches_of(scored.scores, used, people, gallery, job);
  // People are drawn among the probes; the gallery stays as it is.
  if (scored.intervals && std::unordered_set<std::int32_t>(people.begin(), people.end()).size() > 1)
    result.search_bootstrap = [people, how = scored.intervals->of_people] {
      return Bootstrap({people, people, {}}, how);
    };
}

}  // namespace facebench
