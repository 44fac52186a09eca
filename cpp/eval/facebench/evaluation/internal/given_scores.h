#pragma once

#include <cstdint>
#include <span>

#include "facebench/trials/scores.h"
#include "facebench/trials/trials.h"

namespace facebench {

// Scores of one track as given, with failed_score() where a side failed and 0 where nothing is
// compared. `first_row` is that of the whole list, for messages. Throws Error for one that is not
// finite.
Scores given_scores(const Trials& trials, std::span<const std::uint8_t> failed_units,
                    std::span<const double> given, std::size_t first_row);

}  // namespace facebench
