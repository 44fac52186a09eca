#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/metrics/searches.h"
#include "facebench/protocols/track_kind.h"
#include "facebench/protocols/track_side.h"

namespace facebench {

// What is searched in what: positions of the probes and of the gallery that count.
struct SearchedUnits {
  std::vector<std::size_t> probes, gallery;
  bool whole = false;  // all of them
};

// Without what is left out, and without a probe whose mates are all left out: it would turn into a
// non-mated one.
SearchedUnits searched_units(const TrackSide& probes, const TrackSide& gallery);

// The searches of a track as every metric takes them, of its scores or of what was kept of them.
// Null where none is left. Throws std::invalid_argument for kept outcomes of other probes.
struct Searched {
  std::vector<std::int32_t> probe_identity;
  std::shared_ptr<const Searches> searches;
};
Searched searched(const TrackScores& scores, const TrackSide& probes, const TrackSide& gallery,
                  const Job& job = {});

}  // namespace facebench
