#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace facebench {

// What is searched in what: positions of the probes and of the gallery that count.
struct SearchedUnits {
  std::vector<std::size_t> probes, gallery;
};

// Leaves out what is marked (1), and a probe whose mates are all left out: it would turn into a
// non-mated one. `left_out` may be empty: nothing is.
SearchedUnits searched_units(std::span<const std::int32_t> probe_identity,
                             std::span<const std::uint8_t> probe_left_out,
                             std::span<const std::int32_t> gallery_identity,
                             std::span<const std::uint8_t> gallery_left_out);

// The entries at these positions.
template <class T>
std::vector<T> pick(std::span<const T> values, std::span<const std::size_t> positions) {
  std::vector<T> result;
  result.reserve(positions.size());
  for (const std::size_t i : positions) result.push_back(values[i]);
  return result;
}

// Of scores (probes, gallery), row-major, those of the units that count.
std::vector<float> pick_block(std::span<const float> scores, std::size_t gallery,
                              const SearchedUnits& used);

}  // namespace facebench
