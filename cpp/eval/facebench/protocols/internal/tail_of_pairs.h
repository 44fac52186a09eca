#pragma once

#include <cstdint>
#include <span>

#include "facebench/core/job.h"
#include "facebench/metrics/score_tail.h"
#include "facebench/protocols/internal/trial_parts.h"
#include "facebench/protocols/scores.h"
#include "facebench/protocols/scoring.h"

// All pairs whose scores are too many to keep.
namespace facebench {

// What a FAR of `far` needs of the cosines of every row unit with every column unit, or of each
// unordered pair once. Comparisons with a failed side have failed_score() and count.
Scores tail_of_pairs(const UnitEmbeddings& units, std::span<const std::int32_t> rows,
                     std::span<const std::int32_t> columns, bool triangle, double far,
                     const Job& job);

// The tail without comparisons of what is left out, all of which failed; `impostors` are left.
ScoreTail without_left_out(const ScoreTail& tail, const TrackSide& rows, const TrackSide& columns,
                           std::int64_t impostors);

}  // namespace facebench
