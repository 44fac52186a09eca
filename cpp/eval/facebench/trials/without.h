#pragma once

#include <cstdint>
#include <string>

#include "facebench/io/exclusion.h"
#include "facebench/trials/trials.h"

namespace facebench {

// The trials without the people and samples that lists leave out (names of samples as the
// protocol's lists have them, with or without extension; of templates theirs), so that their images
// are not needed. What was left out becomes a note, and each list one of the set's lists. Throws
// Error where a list names nobody of the trials, for a track of a kind that takes all of its people
// (matrix), and where nothing is left of a track.
TrialSet without(const TrialSet& trials, const Exclusions& lists);

// For a quick look: of a list at most `limit` comparisons, spread evenly over the genuine and the
// impostor ones; of other tracks those of its first `limit` units. Images that nothing needs any
// more are left out of the set. Trials that are small enough already stay as they are. Throws as
// above, and std::invalid_argument for a limit below 1.
TrialSet limited(const TrialSet& trials, std::int64_t limit);

}  // namespace facebench
