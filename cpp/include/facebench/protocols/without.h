#pragma once

#include "facebench/io/exclusion.h"
#include "facebench/protocols/trials.h"

namespace facebench {

// The trials without the comparisons of people and samples of a list (names of samples as the
// protocol's lists have them, with or without extension; of templates theirs). What was left out
// becomes a note, and the list one of the set's lists. Samples keep their numbers. Throws Error
// where the list names nobody of the trials, where a track is no list of comparisons, and where
// nothing is left of one.
TrialSet without(const TrialSet& trials, const Exclusion& exclusion);

}  // namespace facebench
