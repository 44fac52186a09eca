#pragma once

#include <cstdint>
#include <vector>

#include "facebench/trials/internal/trial_parts.h"
#include "facebench/trials/measurable.h"

// What is searched in what.
namespace facebench {

// Positions of the probes and of the gallery that count.
struct SearchedUnits {
  std::vector<std::size_t> probes, gallery;
  bool whole = false;  // all of them
};

// Without what is left out, and without a probe whose mates are all left out: it would turn into a
// non-mated one.
SearchedUnits searched_units(const TrackSide& probes, const TrackSide& gallery);

// Adds the searches as every metric takes them, of all scores or of the outcomes that were kept;
// not where none is left. Throws std::invalid_argument for kept outcomes of other probes.
void add_searches(const ScoredTrack& scored, const TrackSide& probes, const TrackSide& gallery,
                  const Job& job, Measurable& result);

}  // namespace facebench
