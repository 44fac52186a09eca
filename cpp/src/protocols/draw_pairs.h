#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "facebench/core/random.h"

namespace facebench {

// `count` different pairs (a < b) of samples with from <= |yaw a - yaw b| < below, of one person
// (`genuine`) or of two, each set of pairs equally likely; sorted. Memory grows with the samples
// and with `count`, not with the pairs there are, time of genuine ones with the pairs of a person.
// Throws Error naming `where` where there are fewer than `count`.
std::vector<std::pair<std::int32_t, std::int32_t>> draw_pairs(
    std::span<const std::int32_t> person, std::span<const double> yaw, double from, double below,
    bool genuine, std::int64_t count, Random& random, const std::string& where);

}  // namespace facebench
