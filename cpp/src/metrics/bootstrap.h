#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/metrics/interval.h"
#include "facebench/metrics/paired.h"

// What the vertex bootstraps of lists and of dense comparisons share.
namespace facebench {

// How often each identity is drawn in a replicate, as many draws as identities.
void draw_identities(std::int64_t seed, std::int64_t replicate, std::span<Weight> drawn);

// The interval of a statistic out of its value and those of the replicates (NaN = undefined).
Interval vertex_interval(const Statistic& statistic, double point, std::vector<double> replicates,
                         std::int64_t identities, double level);

// The differences of statistics a[k] and b[k] that saw the same replicates.
std::vector<PairedComparison> paired_differences(const Replicates& a, const Replicates& b,
                                                 double level);

}  // namespace facebench
