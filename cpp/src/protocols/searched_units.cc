#include "facebench/protocols/searched_units.h"

#include <unordered_set>

namespace facebench {

SearchedUnits searched_units(std::span<const std::int32_t> probe_identity,
                             std::span<const std::uint8_t> probe_left_out,
                             std::span<const std::int32_t> gallery_identity,
                             std::span<const std::uint8_t> gallery_left_out) {
  SearchedUnits used;
  std::unordered_set<std::int32_t> enrolled, left;
  for (std::size_t i = 0; i < gallery_identity.size(); ++i) {
    enrolled.insert(gallery_identity[i]);
    if (!gallery_left_out.empty() && gallery_left_out[i]) continue;
    left.insert(gallery_identity[i]);
    used.gallery.push_back(i);
  }
  for (std::size_t i = 0; i < probe_identity.size(); ++i) {
    if (!probe_left_out.empty() && probe_left_out[i]) continue;
    if (enrolled.contains(probe_identity[i]) == left.contains(probe_identity[i]))
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
