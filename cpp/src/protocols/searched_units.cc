#include "facebench/protocols/searched_units.h"

#include <unordered_set>

namespace facebench {

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
  return used;
}

std::vector<float> pick_block(std::span<const float> scores, std::size_t gallery,
                              const SearchedUnits& used) {
  std::vector<float> block;
  block.reserve(used.probes.size() * used.gallery.size());
  for (const std::size_t p : used.probes)
    for (const std::size_t g : used.gallery) block.push_back(scores[p * gallery + g]);
  return block;
}

}  // namespace facebench
