#pragma once

#include <span>
#include <vector>

#include "facebench/protocols/track_side.h"

namespace facebench {

// What is searched in what: positions of the probes and of the gallery that count.
struct SearchedUnits {
  std::vector<std::size_t> probes, gallery;
};

// Without what is left out, and without a probe whose mates are all left out: it would turn into a
// non-mated one.
SearchedUnits searched_units(const TrackSide& probes, const TrackSide& gallery);

// Of scores (probes, gallery), row-major, those of the units that count.
std::vector<float> pick_block(std::span<const float> scores, std::size_t gallery,
                              const SearchedUnits& used);

}  // namespace facebench
