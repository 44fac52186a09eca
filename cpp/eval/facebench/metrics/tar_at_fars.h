#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {

// The TAR at several FARs under the convention "exact", the same to the bit as tar_at_far() gives
// one by one, without sorting: two passes on all threads and a selection within the bin of each
// threshold. For tens of millions of comparisons. Throws std::invalid_argument for a FAR outside
// [0, 1], lengths that differ, no genuine or no impostor comparison, and, naming the first index at
// fault, for a score that is not finite and a label other than 0 and 1.
std::vector<TarAtFar> tar_at_fars(std::span<const double> scores,
                                  std::span<const std::uint8_t> labels,
                                  std::span<const double> fars, const Job& job = {});
std::vector<TarAtFar> tar_at_fars(std::span<const float> scores,
                                  std::span<const std::uint8_t> labels,
                                  std::span<const double> fars, const Job& job = {});

}  // namespace facebench
